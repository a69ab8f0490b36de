#include <krylith/spmv/cost/cut_statistics.hpp>

#include <algorithm>
#include <utility>
#include <vector>

#include <krylith/matrix/types/index_width.hpp>
#include <krylith/partition/pcsr.hpp>

namespace krylith {

namespace {

bool is_even(const pattern_statistics& whole, std::int64_t nonzeros) {
    std::int64_t most = 0;
    for (const auto& part : whole.parts) most = std::max(most, part.nonzeros);
    return static_cast<double>(most) * static_cast<double>(whole.parts.size()) <=
           even_enough * static_cast<double>(nonzeros);
}

/// Counts ghosts, who sends them, and rows that read them, for every range of the cut.
void count_ghosts(cut_statistics& cut, const pcsr& ranges,
                  std::span<const std::int64_t> row_offsets,
                  std::span<const std::int32_t> column_indices) {
    const row_partition owned = ranges.owned();
    // The last range, from 1, that has counted a column.
    std::vector<std::uint8_t> counted(as_size(owned.rows()), 0);
    for (std::size_t k = 0; k < ranges.ranges.size(); ++k) {
        const major_range& range = ranges.ranges[k];
        const row_range mine = owned.owned(static_cast<int>(k));
        const auto number = static_cast<std::uint8_t>(k + 1);
        for (std::int64_t row = range.start_major; row < range.end_major; ++row) {
            bool reads = false;
            const std::int64_t end = std::min(row_offsets[as_size(row) + 1], range.end_idx);
            for (std::int64_t e = std::max(row_offsets[as_size(row)], range.start_idx); e < end;
                 ++e) {
                const std::int32_t column = column_indices[as_size(e)];
                if (mine.contains(column)) continue;
                reads = true;
                if (std::exchange(counted[as_size(column)], number) == number) continue;
                ++cut.parts[k].ghosts;
                ++cut.parts[as_size(owned.owner(column))].sent;
            }
            cut.parts[k].boundary_rows += reads && mine.contains(row) ? 1 : 0;
        }
    }
}

/// The most nonzeros of a row, or of what a range has of one.
std::int64_t longest_piece(const pcsr& ranges, std::span<const std::int64_t> row_offsets,
                           const longest_row& longest) {
    const auto piece = [&](const major_range& range, std::int64_t row) {
        return std::min(row_offsets[as_size(row) + 1], range.end_idx) -
               std::max(row_offsets[as_size(row)], range.start_idx);
    };
    const bool whole = std::ranges::none_of(
        ranges.shared, [&](const shared_major& cut) { return cut.major == longest.row; });
    if (whole) return longest.nonzeros;
    std::int64_t most = 0;
    for (const major_range& range : ranges.ranges)
        for (std::int64_t row = range.start_major; row < range.end_major; ++row)
            most = std::max(most, piece(range, row));
    return most;
}

} // namespace

cut_statistics measure_cut(const pattern_statistics& whole,
                           std::span<const std::int64_t> row_offsets,
                           std::span<const std::int32_t> column_indices,
                           const longest_row& longest) {
    const auto nonzeros = static_cast<std::int64_t>(column_indices.size());
    const auto devices = static_cast<int>(whole.parts.size());
    const pcsr ranges = make_pcsr(row_offsets, equal_entries(nonzeros, devices));
    cut_statistics cut;
    cut.longest_row = longest_piece(ranges, row_offsets, longest);
    double scattered = 0;
    for (const auto& part : whole.parts)
        scattered += part.scattered * static_cast<double>(part.nonzeros) /
                     static_cast<double>(std::max<std::int64_t>(1, nonzeros));
    const bool even = is_even(whole, nonzeros);
    for (std::size_t k = 0; k < whole.parts.size(); ++k) {
        const major_range& range = ranges.ranges[k];
        pattern_statistics::part part;
        part.rows = range.owned().size();
        part.nonzeros = range.entries();
        part.scattered = scattered;
        if (even) {
            part.ghosts = whole.parts[k].ghosts;
            part.sent = whole.parts[k].sent;
            part.boundary_rows = std::min(whole.parts[k].boundary_rows, part.rows);
        }
        cut.parts.push_back(part);
        cut.has_remote_row.push_back(range.start_flag);
    }
    if (!even) count_ghosts(cut, ranges, row_offsets, column_indices);
    cut.partial_sums.assign(whole.parts.size(), 0);
    for (const shared_major& row : ranges.shared)
        cut.partial_sums[as_size(row.first)] += row.last - row.first;
    return cut;
}

} // namespace krylith
