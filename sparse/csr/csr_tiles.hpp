// The tiles of the CSR kernel: whole rows that fit into shared memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace krylith {

inline constexpr std::int64_t csr_tile_rows = 256;
inline constexpr std::int64_t csr_tile_entries =
    1792; ///< 256 rows of 7 entries: 7 loads in flight a thread

/// Returns the first row of each tile, and the number of rows at the end. A tile has at most
/// csr_tile_rows rows and csr_tile_entries entries, or a single longer row. (CSR-Adaptive:
/// Greathouse and Daga, SC 2014.)
[[nodiscard]] inline std::vector<std::int32_t>
make_csr_tiles(std::span<const std::int64_t> offsets) {
    const auto rows = static_cast<std::int64_t>(offsets.size()) - 1;
    std::vector<std::int32_t> first{0};
    std::int64_t start = 0;
    for (std::int64_t row = 0; row < rows; ++row) {
        const auto end = offsets[static_cast<std::size_t>(row) + 1];
        const bool full = row + 1 - start > csr_tile_rows ||
                          end - offsets[static_cast<std::size_t>(start)] > csr_tile_entries;
        if (full && row > start) {
            first.push_back(static_cast<std::int32_t>(row));
            start = row;
        }
    }
    if (rows > 0) first.push_back(static_cast<std::int32_t>(rows));
    return first;
}

} // namespace krylith
