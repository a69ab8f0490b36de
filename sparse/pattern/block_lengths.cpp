#include <krylith/sparse/pattern/block_lengths.hpp>

#include <krylith/sparse/pattern/csr_tiles.hpp>
#include <krylith/sparse/pattern/sell_layout.hpp>

namespace krylith {

block_lengths measure_lengths(std::span<const std::int64_t> offsets) {
    block_lengths result;
    result.rows = static_cast<std::int64_t>(offsets.size()) - 1;
    result.nonzeros = offsets.back() - offsets.front();
    result.longest = find_longest_row(offsets);
    if (result.longest.nonzeros > csr_tile_entries) {
        std::int64_t in_long_rows = 0;
#pragma omp parallel for reduction(+ : in_long_rows)
        for (std::int64_t row = 0; row < result.rows; ++row) {
            const std::int64_t length = offsets.data()[row + 1] - offsets.data()[row];
            in_long_rows += length > csr_tile_entries ? length : 0;
        }
        result.in_long_rows = in_long_rows;
    }
    const sell_layout layout = make_sell_layout(offsets);
    result.slice_columns = layout.entries() / slice_rows;
    result.sorted = !layout.rows.empty();
    return result;
}

} // namespace krylith
