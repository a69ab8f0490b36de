// The tiles of the CSR kernel: whole rows that fit into shared memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <krylith/device/kernel/annotations.hpp>
#include <krylith/device/memory/buffer.hpp>

namespace krylith {

inline constexpr std::int64_t csr_tile_rows = 256;
inline constexpr std::int64_t csr_tile_entries =
    1792; ///< 256 rows of 7 entries: 7 loads in flight a thread

/// Returns the end of the tile that begins at `row` < rows. A tile has at most csr_tile_rows rows
/// and csr_tile_entries entries, or a single longer row. (CSR-Adaptive: Greathouse and Daga, SC
/// 2014.) `offsets` has rows + 1 entries.
[[nodiscard]] KRYLITH_HD inline std::int64_t end_of_tile(const std::int64_t* offsets,
                                                         std::int64_t rows, std::int64_t row) {
    std::int64_t end = row + 1; // every row up to here fits, or is the only one
    std::int64_t last = row + csr_tile_rows < rows ? row + csr_tile_rows : rows;
    while (end < last) {
        const std::int64_t middle = end + (last - end + 1) / 2;
        if (offsets[middle] - offsets[row] <= csr_tile_entries)
            end = middle;
        else
            last = middle - 1;
    }
    return end;
}

/// Returns the first row of each tile, and the number of rows at the end.
[[nodiscard]] inline std::vector<std::int32_t>
make_csr_tiles(std::span<const std::int64_t> offsets) {
    const auto rows = static_cast<std::int64_t>(offsets.size()) - 1;
    std::vector<std::int32_t> first{0};
    for (std::int64_t row = 0; row < rows;) {
        row = end_of_tile(offsets.data(), rows, row);
        first.push_back(static_cast<std::int32_t>(row));
    }
    return first;
}

namespace cuda {

/// Makes the same array on the device from offsets there, which begin at 0. Reads the offsets
/// twice, and waits for the device.
[[nodiscard]] buffer<std::int32_t> make_csr_tiles(const std::shared_ptr<device>& device,
                                                  const std::int64_t* offsets, std::int64_t rows);

} // namespace cuda

} // namespace krylith
