// The rows of a slice as a warp sees them before they are stored in SELL, and the choice of the
// code of their columns. All lanes call these functions together.
#pragma once

#include <cstdint>
#include <limits>

#include <krylith/device/cuda/warp.cuh>
#include <krylith/sparse/pattern/sell_layout.hpp>
#include <krylith/sparse/sell/sell_view.hpp>

namespace krylith::cuda {

/// A block in CSR, and the places of its rows in slices. Plain data for kernels.
struct slice_source {
    const std::int64_t* offsets; ///< [rows + 1] from 0
    const std::int32_t* columns;
    const std::int32_t* rows; ///< [32 * slices], or null: the natural order
    std::int64_t row_count;
    std::int32_t slices;
};

struct slice_pattern {
    const std::int32_t* columns; ///< of the lane's row
    std::int32_t row;
    std::int32_t length;
    const std::int32_t* longest_columns; ///< of the first lane that has as many entries as any
    std::int32_t longest_row;
    std::int32_t longest; ///< entries of that row: the length of the slice

    __device__ slice_pattern(const slice_source& from, std::int32_t slice) {
        const std::int64_t place = std::int64_t{slice} * slice_rows + lane_number();
        std::int64_t at = place < from.row_count ? place : -1;
        if (from.rows != nullptr) at = from.rows[place];
        const std::int64_t begin = at < 0 ? 0 : from.offsets[at];
        columns = from.columns + begin;
        length = at < 0 ? 0 : static_cast<std::int32_t>(from.offsets[at + 1] - begin);
        row = at < 0 ? 0 : static_cast<std::int32_t>(at);
        longest = __reduce_max_sync(all_lanes, length);
        const int lane = __ffs(static_cast<int>(__ballot_sync(all_lanes, length == longest))) - 1;
        longest_columns = from.columns + __shfl_sync(all_lanes, begin, lane);
        longest_row = __shfl_sync(all_lanes, row, lane);
    }

    /// Calls each(k, diagonal, lanes) for every slice-column k with the diagonal that the longest
    /// row has there and the lanes that have an entry on it: a lane's entry lies at the first
    /// slice-column on its diagonal after that of the entry before. Returns whether all entries
    /// found one; it may stop where one can't.
    template <class Each>
    [[nodiscard]] __device__ bool walk_diagonals(Each each) const {
        std::int32_t placed = 0;
        std::int32_t next = length != 0 ? columns[0] - row : 0;
        for (std::int32_t k = 0; k < longest; ++k) {
            const std::int32_t diagonal = longest_columns[k] - longest_row;
            const bool here = placed < length && next == diagonal;
            each(k, diagonal, __ballot_sync(all_lanes, here));
            if (here && ++placed < length) next = columns[placed] - row;
            // Fewer slice-columns are left than entries.
            if (__any_sync(all_lanes, length - placed > longest - k - 1)) return false;
        }
        return true;
    }

    /// The columns that a slice-column spans, and the lanes that have an entry in it.
    struct extent {
        std::int32_t low;
        std::int32_t high;
        unsigned lanes;
    };
    [[nodiscard]] __device__ extent extent_of(std::int32_t k, std::int32_t column) const {
        const bool has = k < length;
        return {
            __reduce_min_sync(all_lanes, has ? column : std::numeric_limits<std::int32_t>::max()),
            __reduce_max_sync(all_lanes, has ? column : 0), __ballot_sync(all_lanes, has)};
    }
    /// The lane's column at a slice-column; of no meaning where it has none.
    [[nodiscard]] __device__ std::int32_t column(std::int32_t k) const {
        return k < length ? columns[k] : 0;
    }

    [[nodiscard]] __device__ bool is_narrow() const {
        constexpr std::int32_t widest_span = std::numeric_limits<std::uint16_t>::max();
        for (std::int32_t k = 0; k < longest; ++k) {
            const extent e = extent_of(k, column(k));
            if (e.high - e.low > widest_span) return false;
        }
        return true;
    }

    [[nodiscard]] __device__ bool is_triples() const {
        constexpr std::int32_t widest_span = std::numeric_limits<std::uint16_t>::max();
        if (__any_sync(all_lanes, length % 3 != 0)) return false;
        for (std::int32_t k = 0; k < longest; k += 3) {
            const bool broken = k < length && (columns[k + 1] - columns[k] != 1 ||
                                               columns[k + 2] - columns[k] != 2);
            if (__any_sync(all_lanes, broken)) return false;
            const extent e = extent_of(k, column(k));
            if (e.high - e.low > widest_span) return false;
        }
        return true;
    }

    /// Chooses the code of the slice.
    [[nodiscard]] __device__ column_code code(bool with_triples) const {
        if (walk_diagonals([](std::int32_t, std::int32_t, unsigned) {}))
            return column_code::diagonal;
        if (with_triples && is_triples()) return column_code::triples;
        return is_narrow() ? column_code::narrow : column_code::wide;
    }
};

} // namespace krylith::cuda
