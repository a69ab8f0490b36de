// Arithmetic that host and device share for kernels of sparse products: which lanes take which rows
// or columns, searches, and how integer atomics keep the least of floating-point numbers.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#include <krylith/device/kernel/annotations.hpp>

namespace krylith::spmspv {

[[nodiscard]] KRYLITH_HD inline bool has_bit(const std::uint32_t* bits, std::uint32_t i) {
    return (bits[i / 32] >> (i % 32) & 1) != 0;
}

// ---- Lanes

/// The number of lanes of a warp for one major index (row or column): a power of two that reaches
/// the mean length, so that most take one load a lane; 1 to 32.
[[nodiscard]] constexpr int lanes_a_major(std::int64_t majors, std::int64_t nonzeros) {
    int lanes = 1;
    while (lanes < 32 && lanes * majors < nonzeros) lanes *= 2;
    return lanes;
}

/// The assignment of 32 rows, one word of bits, to a warp: groups of `Lanes` lanes sum them up in
/// `Lanes` steps of 32 / Lanes rows each; in the end lane r has row r.
template <int Lanes>
struct rows_of_warp {
    static constexpr int rows_a_step = 32 / Lanes;

    /// The row that a lane sums up in a step.
    [[nodiscard]] KRYLITH_HD static int row(int step, int lane) {
        return step * rows_a_step + lane / Lanes;
    }
    /// The step that ends with the sum of row r, and the lane that has it then.
    [[nodiscard]] KRYLITH_HD static int step_of(int r) { return r / rows_a_step; }
    [[nodiscard]] KRYLITH_HD static int lane_of(int r) { return r % rows_a_step * Lanes; }
};

// ---- Searches

/// A search by 32 lanes at once for the first place in [low, high] where something no longer holds;
/// it holds nowhere behind that place. 32-bit places take 7 rounds.
struct lane_search {
    std::uint32_t low;
    std::uint32_t high;

    [[nodiscard]] KRYLITH_HD bool done() const { return low >= high; }
    [[nodiscard]] KRYLITH_HD std::uint32_t width() const {
        return (high - low) / 32 + ((high - low) % 32 != 0 ? 1 : 0);
    }
    /// The place that a lane tests; it tests none if that isn't below `high`.
    [[nodiscard]] KRYLITH_HD std::uint32_t place(int lane) const {
        return low + static_cast<std::uint32_t>(lane) * width();
    }
    /// The search after a round in which the condition held for the first `lanes` lanes.
    [[nodiscard]] KRYLITH_HD lane_search after(int lanes) const {
        if (lanes == 0) return {low, low};
        const auto passed = static_cast<std::uint32_t>(lanes);
        const std::uint32_t end = high - low < passed * width() ? high : low + passed * width();
        return {low + (passed - 1) * width() + 1, end};
    }
};

/// The most steps of passed_ends(): halves of `count`.
[[nodiscard]] KRYLITH_HD inline int first_stride(int count) {
    int stride = 1;
    while (stride <= count / 2) stride *= 2;
    return stride;
}

/// One step of the search for the number of ends (ascending) that are at most `item`: from `found`
/// by `stride`, which goes from first_stride() through its halves to 1. It has no branches, so that
/// several searches run side by side.
[[nodiscard]] KRYLITH_HD inline int pass_ends(const std::uint32_t* ends, int count, int found,
                                              int stride, std::uint32_t item) {
    const int next = found + stride;
    return next <= count && ends[next - 1] <= item ? next : found;
}

// ---- Columns: a path with the terms of each entry of x, and one item for the entry behind them

/// The number of items that a block takes at once: 256 threads of 4.
inline constexpr std::uint32_t column_tile_items = 1024;

struct column_tiles {
    std::uint32_t items; ///< entries + terms: below 2^32, since both are below 2^31

    [[nodiscard]] KRYLITH_HD std::uint32_t count() const {
        return items / column_tile_items + (items % column_tile_items != 0 ? 1 : 0);
    }
    [[nodiscard]] KRYLITH_HD static std::uint32_t begin(std::uint32_t tile) {
        return tile * column_tile_items;
    }
    [[nodiscard]] KRYLITH_HD std::uint32_t size(std::uint32_t tile) const {
        const std::uint32_t left = items - begin(tile);
        return left < column_tile_items ? left : column_tile_items;
    }
};

/// Whether entry e of x, whose column's items end at ends[e], ends within the first `items` items
/// of the path. e < items.
[[nodiscard]] KRYLITH_HD inline bool ends_before(const std::int32_t* ends, std::uint32_t e,
                                                 std::uint32_t items) {
    return static_cast<std::uint32_t>(ends[e]) < items - e;
}

// ---- Minima by integer atomics

template <class T>
using signed_bits = std::conditional_t<sizeof(T) == 8, long long, int>;
template <class T>
using unsigned_bits = std::make_unsigned_t<signed_bits<T>>;

/// Numbers with a clear sign bit have the order of their bits as signed integers, and all others
/// are below them; those with a set one have the reverse order of their bits as unsigned integers,
/// and all others are below them in that order. So one atomic lowers a number: the minimum for the
/// first kind, the maximum for the second. It is not for NaN.
template <class T>
[[nodiscard]] KRYLITH_HD bool lowers_by_signed_minimum(T number) {
    return std::bit_cast<signed_bits<T>>(number) >= 0;
}

/// Returns what that atomic makes of the number `there`.
template <class T>
[[nodiscard]] KRYLITH_HD T lowered(T there, T number) {
    if (lowers_by_signed_minimum(number)) {
        const auto a = std::bit_cast<signed_bits<T>>(there);
        const auto b = std::bit_cast<signed_bits<T>>(number);
        return std::bit_cast<T>(b < a ? b : a);
    }
    const auto a = std::bit_cast<unsigned_bits<T>>(there);
    const auto b = std::bit_cast<unsigned_bits<T>>(number);
    return std::bit_cast<T>(b > a ? b : a);
}

} // namespace krylith::spmspv
