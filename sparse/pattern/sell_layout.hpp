// SELL-32-sigma: rows in slices of 32, each slice stored column by column and padded to its longest
// row (Kreutzer, Hager, Wellein, Fehske, Bishop, SIAM J. Sci. Comput. 36(5), 2014).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace krylith {

inline constexpr std::int32_t slice_rows = 32;
/// The number of rows of a window: sorting moves rows within their window only.
inline constexpr std::int64_t sort_window = 1024;

/// The fraction of stored entries that are padding, 0..1.
[[nodiscard]] constexpr double sell_padding(std::int64_t nonzeros, std::int64_t slice_columns) {
    return slice_columns == 0 ? 0.0
                              : 1.0 - static_cast<double>(nonzeros) /
                                          static_cast<double>(slice_columns * slice_rows);
}

/// Whether rows are sorted that would have so many slice-columns in their natural order: that pads
/// by more than 3%, or by more than 10% in a block so small that launches and latency take its
/// time. There the natural order keeps x in order, and `auto` can take SELL, which persistent
/// kernels need (choose_format()).
[[nodiscard]] constexpr bool sell_sorts(std::int64_t nonzeros, std::int64_t slice_columns) {
    constexpr std::int64_t small_block = 1'000'000; // nonzeros
    return sell_padding(nonzeros, slice_columns) > (nonzeros < small_block ? 0.10 : 0.03);
}

/// The places of CSR rows in SELL; sell_columns.hpp has those of entries in a slice. Pure
/// arithmetic, no values.
struct sell_layout {
    std::vector<std::int64_t> slice_offsets; ///< [slices + 1] first entry of each slice
    std::vector<std::int32_t> rows;          ///< [slices * 32] row of a place, -1: none. Empty: the
                                             ///< natural order
    std::int64_t row_count = 0;
    std::int64_t nonzeros = 0;

    [[nodiscard]] std::int64_t slices() const {
        return static_cast<std::int64_t>(slice_offsets.size()) - 1;
    }
    [[nodiscard]] std::int64_t entries() const { return slice_offsets.back(); }
    /// The fraction of stored entries that are padding, 0..1.
    [[nodiscard]] double padding() const { return sell_padding(nonzeros, entries() / slice_rows); }
    [[nodiscard]] std::int64_t row_at(std::int64_t place) const {
        if (!rows.empty()) return rows[static_cast<std::size_t>(place)];
        return place < row_count ? place : -1;
    }
};

/// Lays out rows in their natural order unless sell_sorts() says otherwise. Then rows are sorted by
/// length within windows of 1024: neighbours stay near each other, so that x is found in the
/// caches.
/// `offsets` has rows + 1 entries. O(rows log 1024).
[[nodiscard]] sell_layout make_sell_layout(std::span<const std::int64_t> offsets);

} // namespace krylith
