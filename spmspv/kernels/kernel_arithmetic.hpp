// Where kernels of sparse products look, as functions that host and device share: which lanes take
// which lines, searches, and how the least of floating-point numbers is kept by integer atomics.
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

/// Lanes of a warp that share a line: a power of two that reaches its mean length, so that most
/// lines take one load a lane; 1 to 32.
[[nodiscard]] constexpr int lanes_a_major(std::int64_t lines, std::int64_t nonzeros) {
    int lanes = 1;
    while (lanes < 32 && lanes * lines < nonzeros) lanes *= 2;
    return lanes;
}

/// 32 rows a warp, one word of bits: groups of `Lanes` lanes sum them up in `Lanes` steps of 32 /
/// Lanes rows each; in the end lane r has row r.
template <int Lanes>
struct rows_of_warp {
    static constexpr int rows_a_step = 32 / Lanes;

    /// The row that a lane works on in a step.
    [[nodiscard]] KRYLITH_HD static int row(int step, int lane) {
        return step * rows_a_step + lane / Lanes;
    }
    /// When, and in which lane, the sum of row r is there.
    [[nodiscard]] KRYLITH_HD static int step_of(int r) { return r / rows_a_step; }
    [[nodiscard]] KRYLITH_HD static int lane_of(int r) { return r % rows_a_step * Lanes; }
};

// ---- Searches

/// A search by 32 lanes at once for the first place in [low, high] where something no longer holds;
/// it holds nowhere behind. 32-bit places take 7 rounds.
struct lane_search {
    std::uint32_t low;
    std::uint32_t high;

    [[nodiscard]] KRYLITH_HD bool done() const { return low >= high; }
    [[nodiscard]] KRYLITH_HD std::uint32_t width() const {
        return (high - low) / 32 + ((high - low) % 32 != 0 ? 1 : 0);
    }
    /// Where a lane looks; nowhere if that isn't below `high`.
    [[nodiscard]] KRYLITH_HD std::uint32_t place(int lane) const {
        return low + static_cast<std::uint32_t>(lane) * width();
    }
    /// After a round in which it held for the first `lanes` lanes.
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
/// by `stride`, which goes from first_stride() through its halves to 1. Without branches, so that
/// several searches run side by side.
[[nodiscard]] KRYLITH_HD inline int pass_ends(const std::uint32_t* ends, int count, int found,
                                              int stride, std::uint32_t item) {
    const int next = found + stride;
    return next <= count && ends[next - 1] <= item ? next : found;
}

// ---- The work of columns: a path of one item for each entry of x, behind the items of its column

/// Items that a block takes at once: 256 threads of 4.
inline constexpr std::uint32_t work_tile_items = 1024;

struct work_tiles {
    std::uint32_t items; ///< entries + work: below 2^32, since both are below 2^31

    [[nodiscard]] KRYLITH_HD std::uint32_t count() const {
        return items / work_tile_items + (items % work_tile_items != 0 ? 1 : 0);
    }
    [[nodiscard]] KRYLITH_HD static std::uint32_t begin(std::uint32_t tile) {
        return tile * work_tile_items;
    }
    [[nodiscard]] KRYLITH_HD std::uint32_t size(std::uint32_t tile) const {
        const std::uint32_t left = items - begin(tile);
        return left < work_tile_items ? left : work_tile_items;
    }
};

/// Whether entry e of x, whose column's items end at ends[e], ends within the first `items` items
/// of the path. e < items.
[[nodiscard]] KRYLITH_HD inline bool ends_before(const std::int32_t* ends, std::uint32_t e,
                                                 std::uint32_t items) {
    return static_cast<std::uint32_t>(ends[e]) < items - e;
}

// ---- Least numbers

template <class T>
using signed_bits = std::conditional_t<sizeof(T) == 8, long long, int>;
template <class T>
using unsigned_bits = std::make_unsigned_t<signed_bits<T>>;

/// Numbers with a clear sign bit are in the order of their bits as signed integers, and below them
/// lie all others; those with a set one in the reverse order of their bits as unsigned integers,
/// below which lie all others. So one atomic lowers a number: the minimum of the first kind, the
/// maximum of the second. Not for NaN.
template <class T>
[[nodiscard]] KRYLITH_HD bool lowers_by_signed_minimum(T number) {
    return std::bit_cast<signed_bits<T>>(number) >= 0;
}

/// What that makes of the bits that are there.
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
