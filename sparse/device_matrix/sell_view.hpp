// SELL-32 for kernels, with columns that are stored only where they can't be computed.
//
// A slice is 32 consecutive places (rows, sorted or not); its values lie column by column, padded
// to its longest row. A *slice-column* is 32 such entries, one for each lane. A full one takes
// these bytes:
//
//   code      values  columns                     a nonzero (fp64)
//   diagonal  8 * 32  8                            8.25
//   triples   8 * 32  (8 + 2 * 32) / 3             8.75
//   narrow    8 * 32  8 + 2 * 32                  10.25
//   wide      8 * 32  4 * 32                      12
//
// Where all entries of each slice-column are the same number, as those of stencils are, a product
// reads that one instead of 32 values: 0.5 bytes a nonzero with diagonals. Slices that are equal in
// all this read those of one of them, which stay in the caches. Where a device has few different
// values, products read a byte for each, its place in a table; where values are exact in half their
// bits, they read these: fp32 for double; for float 16 bits (sixteen_bits.hpp), but for one value
// of each row. All this changes no bit of a product, and each slice has its own code.
#pragma once

#include <cstddef>
#include <cstdint>

#include <krylith/sparse/device_matrix/stencil.hpp>

namespace krylith {

/// The code of the columns of a slice. Lanes that hold no entry hold the value 0.
enum class column_code : std::uint32_t {
    diagonal, ///< row + the step's base: the slice-column lies on a diagonal
    narrow,   ///< the step's base + an offset of 16 bits
    wide,     ///< 32 bits; -1: no entry
    triples,  ///< rows have entries at three consecutive columns each time, as blocks of 3 have:
              ///< the step's base + an offset of 16 bits is the first of these
};

/// How a product may read the values of a slice, which lie in sell_view::values in any case.
enum class value_code : std::uint32_t {
    full,    ///< each for itself
    uniform, ///< all entries of a slice-column are one finite number, which sell_view::uniform has
    table,   ///< sell_view::table has them, sell_view::codes where
    halved,  ///< sell_view::halved has them, and sell_view::apart what it lacks
};

/// A slice-column whose code isn't wide, or three of them. It is read as one word of 8 bytes.
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
    std::uint32_t first;   ///< slice-columns before it: its steps begin at first, its values
                           ///< at 32 * first
    std::uint32_t columns; ///< first chunk (column_chunk bytes) of its stored columns
    std::uint32_t shape;   ///< length and codes
    std::uint32_t read;    ///< the slice-column that a product begins with: `first`, or that of a
                           ///< uniform slice with the same diagonals and values

    /// The length in slice-columns.
    [[nodiscard]] constexpr std::int32_t length() const {
        return static_cast<std::int32_t>(shape >> 4);
    }
    [[nodiscard]] constexpr column_code code() const { return static_cast<column_code>(shape & 3); }
    [[nodiscard]] constexpr value_code values() const {
        return static_cast<value_code>(shape >> 2 & 3);
    }

    friend bool operator==(const slice_head&, const slice_head&) = default;
};

/// The slice_head::shape of at most longest_slice slice-columns.
[[nodiscard]] constexpr std::uint32_t slice_shape(std::int32_t length, column_code code,
                                                  value_code values = value_code::full) {
    return static_cast<std::uint32_t>(length) << 4 | static_cast<std::uint32_t>(values) << 2 |
           static_cast<std::uint32_t>(code);
}

inline constexpr std::int32_t longest_slice = (1 << 28) - 1;

/// The bytes of a chunk: 32 offsets of 16 bits. Columns of 32 bits take two chunks a slice-column.
inline constexpr std::int64_t column_chunk = 64;

/// The chunks that the columns of so many slice-columns take.
[[nodiscard]] constexpr std::int64_t chunks_of(column_code code, std::int32_t length) {
    switch (code) {
    case column_code::diagonal: return 0;
    case column_code::triples: return length / 3;
    case column_code::narrow: return length;
    default: return 2 * std::int64_t{length};
    }
}

/// The steps that so many slice-columns need.
[[nodiscard]] constexpr std::int32_t steps_of(column_code code, std::int32_t length) {
    if (code == column_code::wide) return 0;
    return code == column_code::triples ? length / 3 : length;
}

/// Whether a matrix with so many slice-columns in triples has any: then its products have a kernel
/// of their own, which multiplies others one after the other.
[[nodiscard]] constexpr bool worth_triples(std::int64_t in_triples, std::int64_t slice_columns) {
    return 2 * in_triples > slice_columns;
}

/// The entries of a table of values. The first is 0, for lanes without an entry.
inline constexpr std::int32_t table_size = 256;

/// The slice-columns whose codes are one word of 32 bits of each lane.
inline constexpr int codes_of_word = 4;

/// The slice-columns whose halved values are one word of each lane.
template <class T>
inline constexpr int halved_of_word = sizeof(T) == 8 ? 1 : 2;

/// The values of a row that a halved slice may have apart.
template <class T>
inline constexpr int apart_of_row = sizeof(T) == 8 ? 0 : 1;

/// Whether a slice of float is worth being halved: what is apart takes as much as two slice-columns
/// save.
template <class T>
[[nodiscard]] constexpr bool worth_halving(std::int32_t length) {
    return length > 2 * apart_of_row<T>;
}

/// The number of words, each of `of_word` slice-columns, before those of a slice, which takes at
/// most a word more than it needs.
[[nodiscard]] constexpr std::uint32_t words_before(std::uint32_t first, std::int32_t slice,
                                                   int of_word) {
    const auto of = static_cast<std::uint64_t>(of_word);
    return static_cast<std::uint32_t>(
        (std::uint64_t{first} + (of - 1) * static_cast<std::uint64_t>(slice)) / of);
}

/// Plain pointers to memory of one device, for kernels. Groups are the slices of a block of threads
/// (one warp for each slice); those of the boundary come last.
template <class T>
struct sell_view {
    const slice_head* heads;         ///< [slices]
    const slice_step* steps;         ///< [slice-columns], or null: all slices are wide
    const std::byte* columns;        ///< chunks that narrow and wide slices store, lane by lane
    const T* values;                 ///< [32 * slice-columns]
    const uniform_entry<T>* uniform; ///< [slice-columns] what uniform slices have
    const T* table;                  ///< [table_size] or null
    const std::uint32_t* codes; ///< [32 * words_before(slice-columns, slices, codes_of_word) + 32],
                                ///< 8 bits each, the first slice-column's the lowest; null: none
    const std::uint32_t* halved; ///< [32 * words_before(slice-columns, slices, halved_of_word)]
                                 ///< fp32, or 16 bits each, the first the lowest; null: none
    const T* apart;              ///< [32 * slices] the value of a place that 16 bits lack; or null
    const std::int32_t* rows;  ///< [32 * slices] row of a place, -1: none; null: the natural order
    const std::int32_t* order; ///< [groups] the order of groups, or null: the natural order
    std::int64_t row_count;
    std::int32_t slices;
    std::int32_t groups;
    std::int32_t interior;                    ///< groups before the first of the boundary
    std::int64_t bytes;                       ///< of all that products read, each value for itself
    std::int32_t entries_of_x = 0;            ///< that products may read
    std::int32_t first_owned = 0;             ///< local column of the first owned one
    const sell_stencil<T>* stencil = nullptr; ///< [1] or null: it wasn't looked for
    const stencil_unit<T>* units = nullptr;   ///< [slices, by stencil_unit::slices] or null
};

} // namespace krylith
