#include <krylith/matrix/types/longest_row.hpp>

#include <algorithm>
#include <vector>

namespace krylith {

namespace {

/// The number of rows that are read together; a second look at one such chunk finds the row.
constexpr std::int64_t chunk_rows = 65536;

/// The length of a row. It wraps around where offsets are invalid, which a signed difference must
/// not.
std::int64_t length(const std::int64_t* offset, std::int64_t row) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(offset[row + 1]) -
                                     static_cast<std::uint64_t>(offset[row]));
}

struct chunk_facts {
    std::int64_t longest = -1;
    bool descends = false;
};

/// The facts of a chunk, by comparisons without branches: the processor makes several at a time.
chunk_facts look_at(const std::int64_t* offset, std::int64_t begin, std::int64_t end) {
    std::int64_t longest = -1;
    int descents = 0;
#pragma omp simd reduction(max : longest) reduction(| : descents)
    for (std::int64_t row = begin; row < end; ++row) {
        longest = std::max(longest, length(offset, row));
        descents |= static_cast<int>(offset[row + 1] < offset[row]);
    }
    return {longest, descents != 0};
}

} // namespace

offset_scan scan_offsets(std::span<const std::int64_t> row_offsets) {
    const auto rows = static_cast<std::int64_t>(row_offsets.size()) - 1;
    if (rows <= 0) return {};
    const std::int64_t* const offset = row_offsets.data();
    const std::int64_t chunks = (rows + chunk_rows - 1) / chunk_rows;
    std::vector<chunk_facts> facts(static_cast<std::size_t>(chunks));
#pragma omp parallel for schedule(static) if (chunks > 1)
    for (std::int64_t c = 0; c < chunks; ++c)
        facts[static_cast<std::size_t>(c)] =
            look_at(offset, c * chunk_rows, std::min(rows, (c + 1) * chunk_rows));

    const auto bad = std::ranges::find(facts, true, &chunk_facts::descends);
    if (bad != facts.end()) {
        std::int64_t row = (bad - facts.begin()) * chunk_rows;
        while (offset[row + 1] >= offset[row]) ++row;
        return {row, {}};
    }
    const auto most = std::ranges::max_element(facts, {}, &chunk_facts::longest); // the first
    std::int64_t row = (most - facts.begin()) * chunk_rows;
    while (length(offset, row) != most->longest) ++row;
    return {rows, {row, most->longest}};
}

longest_row find_longest_row(std::span<const std::int64_t> row_offsets) {
    return scan_offsets(row_offsets).longest;
}

} // namespace krylith
