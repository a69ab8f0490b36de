// The checker of block partitions, which has no code in common with what makes them.
#include <krylith/partition/replicated/block_partition.hpp>

#include <algorithm>
#include <string>

#include <krylith/device/error.hpp>

namespace krylith {

namespace {

[[noreturn]] void refuse_blocks(const std::string& what) {
    throw usage_error("block_partition: " + what);
}

std::string text(row_range rows) {
    return "rows " + std::to_string(rows.begin) + " to " + std::to_string(rows.end);
}

/// Checks that `ranges` are a partition of `all`; empty ones don't count.
void check_cover(std::vector<row_range> ranges, row_range all, const char* verb) {
    std::erase_if(ranges, [](row_range range) { return range.begin == range.end; });
    std::ranges::sort(ranges, {}, &row_range::begin);
    std::int64_t next = all.begin;
    for (const row_range range : ranges) {
        if (range.begin > next)
            refuse_blocks(text({next, range.begin}) + " are " + verb + " by no rank");
        if (range.begin < next || range.end > all.end)
            refuse_blocks(text(range) + " are " + verb + " twice, or are not among " + text(all));
        next = range.end;
    }
    if (next < all.end) refuse_blocks(text({next, all.end}) + " are " + verb + " by no rank");
}

} // namespace

void check(const block_partition& partition, std::int64_t rows) {
    if (partition.local.empty()) refuse_blocks("there are 0 ranks, must be at least 1");
    if (partition.rows != rows)
        refuse_blocks("it is of " + std::to_string(partition.rows) + " rows, must be of " +
                      std::to_string(rows));
    const row_range redundant = partition.redundant;
    if (redundant.begin < 0 || redundant.end < redundant.begin || redundant.end > rows)
        refuse_blocks("redundant " + text(redundant) + " must be among " + text({0, rows}));
    std::vector<row_range> computed{redundant};
    std::vector<row_range> counted;
    for (std::size_t k = 0; k < partition.local.size(); ++k) {
        const local_blocks& rank = partition.local[k];
        const std::string who = "rank " + std::to_string(k) + " ";
        if (rank.ranges.size() > max_block_ranges)
            refuse_blocks(who + "has " + std::to_string(rank.ranges.size()) + " ranges, at most " +
                          std::to_string(max_block_ranges) + " are allowed");
        for (std::size_t i = 0; i < rank.ranges.size(); ++i) {
            const staged_rows& range = rank.ranges[i];
            if (range.rows.end <= range.rows.begin)
                refuse_blocks(who + "has the range " + text(range.rows) +
                              ", which must not be empty");
            if (i != 0 && range.stage < rank.ranges[i - 1].stage)
                refuse_blocks(who + "computes " + text(range.rows) +
                              " of the first stage after rows of the second");
            computed.push_back(range.rows);
        }
        if (rank.counted.end < rank.counted.begin)
            refuse_blocks(who + "counts " + text(rank.counted) + ", which end before they begin");
        counted.push_back(rank.counted);
    }
    check_cover(std::move(computed), {0, rows}, "computed");
    check_cover(std::move(counted), redundant, "counted");
}

} // namespace krylith
