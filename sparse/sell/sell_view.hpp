// SELL-32 for kernels, with columns that are stored only where they can't be computed.
//
// A slice is 32 consecutive places (rows, sorted or not); its values lie column by column, padded
// to its longest row. A *slice-column* is 32 such entries, one for each lane. A full one takes
// these bytes:
//
//   code      values  columns                     a nonzero (fp64)
//   diagonal  8 * 32  8                            8.25
//   narrow    8 * 32  8 + 2 * 32                  10.25
//   wide      8 * 32  4 * 32                      12
//
// Where all entries of each slice-column are the same number, as those of stencils are, a product
// reads that one instead of 32 values: 0.5 bytes a nonzero with diagonals. Slices that are equal in
// all this read those of one of them, which stay in the caches. Products have the same bits.
#pragma once

#include <cstddef>
#include <cstdint>

namespace krylith {

/// The code of the columns of a slice. Lanes that hold no entry hold the value 0.
enum class column_code : std::uint32_t {
    diagonal, ///< row + the step's base: the slice-column lies on a diagonal
    narrow,   ///< the step's base + an offset of 16 bits
    wide,     ///< 32 bits; -1: no entry
};

/// How a product reads the values of a slice, which lie in sell_view::values in any case.
enum class value_code : std::uint32_t {
    full,   ///< each for itself
    uniform ///< all entries of a slice-column are one finite number, which sell_view::uniform has
};

/// A slice-column whose code isn't wide. It is read as one word of 8 bytes.
struct alignas(8) slice_step {
    std::int32_t base;
    std::uint32_t lanes; ///< bit set: the lane holds an entry

    friend bool operator==(const slice_step&, const slice_step&) = default;
};

/// A slice-column of a uniform slice. It is read as one word of 16 bytes.
template <class T>
struct alignas(16) uniform_entry {
    T value;
    slice_step step; ///< of slices that aren't wide
};

/// The place of a slice. It is read as one word of 16 bytes, of which a product keeps three
/// registers.
struct alignas(16) slice_head {
    std::uint32_t first;   ///< slice-columns before it: its step k is number first + k, its values
                           ///< begin at 32 * first
    std::uint32_t columns; ///< first chunk (column_chunk bytes) of its stored columns
    std::uint32_t shape;   ///< length and codes
    std::uint32_t read;    ///< the slice-column that a product begins with: `first`, or that of a
                           ///< uniform slice with the same diagonals and values

    /// The length in slice-columns.
    [[nodiscard]] constexpr std::int32_t length() const {
        return static_cast<std::int32_t>(shape >> 3);
    }
    [[nodiscard]] constexpr column_code code() const { return static_cast<column_code>(shape & 3); }
    [[nodiscard]] constexpr value_code values() const {
        return static_cast<value_code>(shape >> 2 & 1);
    }

    friend bool operator==(const slice_head&, const slice_head&) = default;
};

/// The slice_head::shape of at most longest_slice slice-columns.
[[nodiscard]] constexpr std::uint32_t slice_shape(std::int32_t length, column_code code,
                                                  value_code values = value_code::full) {
    return static_cast<std::uint32_t>(length) << 3 | static_cast<std::uint32_t>(values) << 2 |
           static_cast<std::uint32_t>(code);
}

inline constexpr std::int32_t longest_slice = (1 << 29) - 1;

/// The bytes of a chunk: 32 offsets of 16 bits. Columns of 32 bits take two chunks a slice-column.
inline constexpr std::int64_t column_chunk = 64;

/// Plain pointers to memory of one device, for kernels. Groups are the slices of a block of threads
/// (one warp for each slice); those of the boundary come last.
template <class T>
struct sell_view {
    const slice_head* heads;         ///< [slices]
    const slice_step* steps;         ///< [slice-columns], or null: all slices are wide
    const std::byte* columns;        ///< chunks that narrow and wide slices store, lane by lane
    const T* values;                 ///< [32 * slice-columns]
    const uniform_entry<T>* uniform; ///< [slice-columns] what uniform slices have
    const std::int32_t* rows;  ///< [32 * slices] row of a place, -1: none; null: the natural order
    const std::int32_t* order; ///< [groups] the order of groups, or null: the natural order
    std::int64_t row_count;
    std::int32_t slices;
    std::int32_t groups;
    std::int32_t interior; ///< groups before the first of the boundary
    std::int64_t bytes;    ///< of all that products read, each value for itself
};

} // namespace krylith
