// How small dense blocks along the diagonal of a matrix lie on a device.
//
// Slices of 32 rows lie column by column, as wide as their largest block: 32 lanes that each have a
// row load 32 neighbours, and no columns are stored.
#pragma once

#include <cstdint>

#include <krylith/device/kernel/annotations.hpp>

namespace krylith::detail {

inline constexpr int largest_block = 32;
inline constexpr std::int64_t slice_rows = 32;

/// The block of a row.
struct block_place {
    std::uint8_t at;   ///< the row's number in the block
    std::uint8_t size; ///< the block's rows, 1 to largest_block

    friend bool operator==(const block_place&, const block_place&) = default;
};

/// The blocks of a device. Behind the slices of its rows, which may be the last ones of a block
/// that begins on another device, or the first ones, there is a slice for each such block as a
/// whole.
template <class T>
struct block_view {
    std::int64_t rows = 0;
    const block_place* places = nullptr;  ///< [rows of all slices]
    const std::uint32_t* begin = nullptr; ///< [slices + 1] columns of the slices before
    T* values = nullptr;

    [[nodiscard]] KRYLITH_HD T& at(std::int64_t row, std::int64_t column) const {
        return values[(begin[row / slice_rows] + column) * slice_rows + row % slice_rows];
    }
};

/// Where the entries of a vector lie that a device multiplies by its blocks.
struct block_columns {
    std::int64_t first = 0;  ///< the place of the first row's entry: those of rows of other devices
                             ///< lie around those of the device's own
    std::int64_t rows = 0;   ///< of the device
    bool replicated = false; ///< the device has all entries, and there are no ghosts

    /// The entry of row `row`, which may be another device's.
    [[nodiscard]] KRYLITH_HD std::int64_t of_row(std::int64_t row) const { return first + row; }
    [[nodiscard]] KRYLITH_HD bool are_own(std::int64_t begin, std::int64_t end) const {
        return replicated || (begin >= 0 && end <= rows);
    }
};

} // namespace krylith::detail
