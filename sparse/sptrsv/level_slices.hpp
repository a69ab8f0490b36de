// Rows of a triangle in the order of their levels, in slices of 32 lanes.
//
// The level of a row is 1 more than the highest among the rows that it depends on, or 0. Rows are
// at *places* in the order of level, class of length, and row. A slice is a few rows of
// neighbouring places; a row of it has 1, 8 or 32 lanes by its class, and its strict entries go
// round over them. Entries of a step (one for each lane) lie together, so a warp reads them in one
// piece.
#pragma once

#include <cstdint>

#include <krylith/device/kernel/annotations.hpp>

namespace krylith {

/// The places and steps of a slice; where they end is where those of the next begin.
struct alignas(16) triangle_slice {
    std::int64_t step;  ///< entry of lane l at step s: 32 s + l
    std::int32_t place; ///< of its first row
    std::int32_t lanes; ///< for each row: a power of two
};

/// Classes of rows by their number of strict entries.
struct length_class {
    static constexpr int count = 4;
    static constexpr int bits = 2;
    [[nodiscard]] static constexpr KRYLITH_HD unsigned of(std::int32_t length) {
        return length <= 8 ? 0u : length <= 24 ? 1u : length <= 128 ? 2u : 3u;
    }
    [[nodiscard]] static constexpr KRYLITH_HD int lanes(unsigned number) {
        return number < 2 ? 1 : number == 2 ? 8 : 32;
    }
};

/// What rows are sorted by: the level, and the class of length. Rows of the first two classes have
/// their length above, where levels leave room for it, and are not sorted by that.
struct level_key {
    static constexpr int length_bits = 5;
    static constexpr int length_shift = 32 - length_bits;
    static constexpr std::int64_t most_levels = std::int64_t{1}
                                                << (length_shift - length_class::bits);

    [[nodiscard]] static constexpr KRYLITH_HD std::uint32_t of(std::int32_t level,
                                                               std::int32_t length, bool carries) {
        const std::uint32_t number = length_class::of(length);
        const std::uint32_t above =
            carries && number < 2 ? static_cast<std::uint32_t>(length) << length_shift : 0;
        return above | static_cast<std::uint32_t>(level) << length_class::bits | number;
    }
    /// The longest row that short_row() takes.
    static constexpr std::int32_t most_short = (1 << length_bits) - 1;
    /// Of a row with one lane whatever its length, so that lengths of neighbours don't end slices.
    [[nodiscard]] static constexpr KRYLITH_HD std::uint32_t short_row(std::int32_t level,
                                                                      std::int32_t length) {
        return static_cast<std::uint32_t>(length) << length_shift |
               static_cast<std::uint32_t>(level) << length_class::bits | 1u;
    }
    /// The part that rows are sorted by.
    [[nodiscard]] static constexpr KRYLITH_HD std::uint32_t sorted(std::uint32_t key,
                                                                   bool carries) {
        return carries ? key & ((1u << length_shift) - 1) : key;
    }
    [[nodiscard]] static constexpr KRYLITH_HD unsigned number(std::uint32_t key) {
        return key & ((1u << length_class::bits) - 1);
    }
    [[nodiscard]] static constexpr KRYLITH_HD std::uint32_t level(std::uint32_t key, bool carries) {
        return sorted(key, carries) >> length_class::bits;
    }
    /// Of a key of the first two classes that carries it.
    [[nodiscard]] static constexpr KRYLITH_HD std::int32_t length(std::uint32_t key) {
        return static_cast<std::int32_t>(key >> length_shift);
    }
};

/// The arrays as kernels take them.
template <class T>
struct triangle_slices {
    std::int64_t rows = 0;
    std::int64_t slices = 0;
    const triangle_slice* heads = nullptr; ///< [slices + 1]
    const std::int32_t* columns = nullptr; ///< [32 steps] places or rows; -1: no entry
    const T* values = nullptr;             ///< [32 steps]
    const T* pivots = nullptr;             ///< [rows] by place; null: all are 1
    const std::int32_t* order = nullptr;   ///< [rows] the row of a place; null: its number
};

/// Right-hand sides and solutions: vector v < count begins at b + v * b_stride.
template <class T>
struct triangular_vectors {
    const T* b = nullptr;
    T* x = nullptr;
    std::int64_t b_stride = 0;
    std::int64_t x_stride = 0;
    int count = 1;
};

} // namespace krylith
