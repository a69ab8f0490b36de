#include <krylith/distributed/source/joined_rows.hpp>

#include <algorithm>

#include <krylith/matrix/types/index_width.hpp>
#include <krylith/sparse/pattern/sell_layout.hpp>

namespace krylith {

namespace {

/// Appends a segment, or extends the last one where the rows follow it in the matrix and may be
/// `joined`.
void append(joined_rows& to, row_range rows, const row_starts& starts, bool joined = true) {
    if (joined && !to.segments.empty() && to.segments.back().rows.end == rows.begin) {
        row_segment& last = to.segments.back();
        last.rows.end = rows.end;
        last.nonzeros.end = starts[rows.end];
        to.size = last.begin + last.rows.size();
        return;
    }
    // Where boundaries are aligned at all, only the end of the matrix lies within a warp.
    if (!to.segments.empty() && to.segments.back().rows.end == starts.rows())
        to.size = (to.size + slice_rows - 1) / slice_rows * slice_rows;
    to.segments.push_back({to.size, rows, {starts[rows.begin], starts[rows.end]}});
    to.size += rows.size();
}

} // namespace

entry_list joined_rows::entries() const {
    std::vector<row_range> ranges;
    for (const row_segment& s : segments) ranges.push_back(s.nonzeros);
    return entry_list(std::span<const row_range>(ranges));
}

void joined_rows::read_offsets(std::span<const std::int64_t> row_offsets, std::int64_t first,
                               std::int64_t count, std::int64_t* to) const {
    const std::int64_t end = first + count;
    std::int64_t before = 0;                      // entries of the segments before
    std::int64_t row = 0;                         // offsets before it are of these segments
    const auto fill_to = [&](std::int64_t last) { // padding, and rows that have ended
        for (; row < last; ++row)
            if (row >= first && row < end) to[row - first] = before;
    };
    for (const row_segment& s : segments) {
        fill_to(s.begin);
        const std::int64_t last = s.begin + s.rows.size();
        const std::int64_t* const of_row = row_offsets.data() + s.rows.begin - s.begin;
        for (std::int64_t i = std::max(first, row); i < std::min(end, last); ++i)
            to[i - first] = before - s.nonzeros.begin +
                            std::max(s.nonzeros.begin, std::min(of_row[i], s.nonzeros.end));
        row = last;
        before += s.nonzeros.size();
    }
    fill_to(size + 1);
}

std::vector<std::int64_t> joined_rows::offsets(std::span<const std::int64_t> row_offsets) const {
    std::vector<std::int64_t> result(static_cast<std::size_t>(size) + 1);
    read_offsets(row_offsets, 0, size + 1, result.data());
    return result;
}

joined_rows join_rows(const block_partition& partition, int part, const row_starts& starts) {
    const local_blocks& mine = partition.local.at(static_cast<std::size_t>(part));
    joined_rows result;
    for (const staged_rows& range : mine.ranges) append(result, range.rows, starts);
    if (partition.redundant.size() == 0) {
        if (result.segments.empty()) append(result, {0, 0}, starts);
        if (result.consecutive()) return result;
    }
    row_map& map = result.map;
    if (partition.redundant.size() != 0) {
        append(result, partition.redundant, starts, false);
        check_index_size("make_device_matrix: the number of rows of a device", result.size);
        map.alone = static_cast<std::int32_t>(result.segments.back().begin);
        map.counted_begin = mine.counted.begin;
        map.counted_end = mine.counted.end;
    }
    check_index_size("make_device_matrix: the number of rows of a device", result.size);
    map.rows = partition.rows;
    for (const row_segment& s : result.segments) {
        map.begin[map.count] = static_cast<std::int32_t>(s.begin);
        map.shift[map.count] = s.rows.begin - s.begin;
        ++map.count;
    }
    return result;
}

joined_rows lone_rows(row_range rows, const row_starts& starts) {
    joined_rows result;
    append(result, rows, starts);
    return result;
}

} // namespace krylith
