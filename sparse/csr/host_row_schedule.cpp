#include <krylith/sparse/csr/host_row_schedule.hpp>

#include <algorithm>

#include <krylith/vector/execution/host_context.hpp>

namespace krylith::host {

namespace {

/// Returns the rows of a chunk. Interior and boundary each end with a chunk that may be shorter.
std::int64_t rows_of_a_chunk(std::int64_t rows) {
    constexpr std::int64_t unit = 64;
    constexpr std::int64_t most = reduction_chunks - 2;
    return std::max(unit, ((rows + most - 1) / most + unit - 1) / unit * unit);
}

} // namespace

row_schedule make_row_schedule(std::span<const std::int64_t> offsets,
                               std::span<const std::uint8_t> boundary,
                               std::span<const std::int64_t> giants) {
    const auto rows = static_cast<std::int64_t>(offsets.size()) - 1;
    const std::int64_t length = rows_of_a_chunk(rows);
    const auto at = [&](std::int64_t row) { return offsets[static_cast<std::size_t>(row)]; };
    /// Rows and nonzeros of [begin, end).
    const auto items_of = [&](std::int64_t begin, std::int64_t end) {
        std::int64_t items = end - begin + at(end) - at(begin);
        for (auto giant = std::ranges::lower_bound(giants, begin);
             giant != giants.end() && *giant < end; ++giant)
            items -= at(*giant + 1) - at(*giant);
        return items;
    };
    const auto on_boundary = [&](std::int64_t row) {
        return boundary[static_cast<std::size_t>(row)] != 0;
    };

    row_schedule s;
    s.first_range.push_back(0);
    s.items_before.push_back(0);
    if (boundary.empty()) { // a chunk is one range
        for (std::int64_t begin = 0; begin < rows; begin += length) {
            const std::int64_t end = std::min(rows, begin + length);
            s.ranges.push_back({begin, end});
            s.first_range.push_back(static_cast<std::int64_t>(s.ranges.size()));
            s.items_before.push_back(s.items_before.back() + items_of(begin, end));
        }
        s.interior = s.chunks();
        return s;
    }
    std::int64_t held = 0; // rows in the chunk under way
    std::int64_t items = 0;
    const auto close_chunk = [&] {
        if (held == 0) return;
        s.first_range.push_back(static_cast<std::int64_t>(s.ranges.size()));
        s.items_before.push_back(items);
        held = 0;
    };
    for (const bool second : {false, true}) {
        for (std::int64_t row = 0; row < rows;) {
            if (on_boundary(row) != second) {
                ++row;
                continue;
            }
            const std::int64_t begin = row;
            while (row < rows && row - begin < length - held && on_boundary(row) == second) ++row;
            s.ranges.push_back({begin, row});
            held += row - begin;
            items += items_of(begin, row);
            if (held == length) close_chunk();
        }
        close_chunk();
        if (!second) s.interior = s.chunks();
    }
    return s;
}

} // namespace krylith::host
