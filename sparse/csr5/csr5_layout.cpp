#include <krylith/sparse/csr5/csr5_layout.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>

namespace krylith {

namespace {

/// The descriptor of one tile, whose lanes have the flags.
void describe_lanes(std::span<const std::uint32_t> flags, std::span<std::uint32_t> words) {
    const auto omega = static_cast<int>(flags.size());
    int segments = 0;
    for (int i = 0; i < omega; ++i) {
        const std::uint32_t mine = flags[static_cast<std::size_t>(i)];
        int behind = 0;
        while (mine != 0 && i + behind + 1 < omega &&
               flags[static_cast<std::size_t>(i + behind + 1)] == 0)
            ++behind;
        words[static_cast<std::size_t>(i)] = csr5_lane::pack(mine, segments, behind);
        segments += std::popcount(mine);
    }
}

} // namespace

csr5_layout make_csr5_layout(std::span<const std::int64_t> offsets, csr5_shape shape) {
    const auto rows = static_cast<std::int64_t>(offsets.size()) - 1;
    const std::int64_t base = offsets.front();
    const std::int64_t nonzeros = offsets.back() - base;
    const std::int64_t entries = shape.tile_entries();
    const auto omega = static_cast<std::size_t>(shape.omega);
    const auto tiles = static_cast<std::size_t>(shape.tiles_of(nonzeros));
    csr5_layout result{shape, {}, std::vector<std::uint32_t>(tiles * omega), {}, {}, {}};
    const auto start_of = [&](std::int64_t row) {
        return offsets[static_cast<std::size_t>(row)] - base;
    };
    std::int64_t row = 0; // of the entry where the tile begins
    std::vector<std::uint32_t> flags(omega);
    for (std::size_t tile = 0; tile < tiles; ++tile) {
        const std::int64_t first = static_cast<std::int64_t>(tile) * entries;
        const std::int64_t end = std::min(first + entries, nonzeros);
        while (start_of(row + 1) <= first) ++row;
        result.empty_begin.push_back(static_cast<std::uint32_t>(result.empty_offsets.size()));
        std::ranges::fill(flags, 0U);
        flags[0] = 1;
        bool has_empty = false;
        std::vector<std::int32_t> rows_of_segments{0};
        std::int64_t next = row + 1; // up to the row of the next tile
        for (; next < rows && start_of(next) < end; ++next) {
            if (start_of(next) == start_of(next + 1)) {
                has_empty = true;
                continue;
            }
            const std::int64_t at = start_of(next) - first;
            flags[static_cast<std::size_t>(at / shape.sigma)] |= 1U << at % shape.sigma;
            rows_of_segments.push_back(static_cast<std::int32_t>(next - row));
        }
        if (next < rows && start_of(next) == end && start_of(next + 1) == end) has_empty = true;
        result.tile_rows.push_back(static_cast<std::uint32_t>(row) |
                                   (has_empty ? csr5_tile_row::mark : 0U));
        describe_lanes(flags, std::span(result.lanes).subspan(tile * omega, omega));
        if (has_empty)
            result.empty_offsets.insert(result.empty_offsets.end(), rows_of_segments.begin(),
                                        rows_of_segments.end());
    }
    result.tile_rows.push_back(static_cast<std::uint32_t>(rows));
    result.empty_begin.push_back(static_cast<std::uint32_t>(result.empty_offsets.size()));
    for (std::int64_t r = 0; r < rows; ++r)
        if (start_of(r) == start_of(r + 1))
            result.empty_rows.push_back(static_cast<std::int32_t>(r));
    return result;
}

std::int64_t csr5_layout_bytes(const csr5_layout& layout) {
    return static_cast<std::int64_t>(4 * (layout.tile_rows.size() + layout.lanes.size() +
                                          layout.empty_begin.size() + layout.empty_offsets.size() +
                                          layout.empty_rows.size()));
}

int choose_csr5_sigma(std::int64_t rows, std::int64_t nonzeros) {
    return nonzeros < 8 * rows ? 8 : most_csr5_sigma;
}

} // namespace krylith
