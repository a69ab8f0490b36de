// The rows of a slice as a warp sees them before they are stored in SELL, and the choice of the
// code of their columns. All lanes call these functions together.
#pragma once

#include <cstdint>
#include <limits>

#include <krylith/device/cuda/warp.cuh>
#include <krylith/sparse/device_matrix/sell_view.hpp>
#include <krylith/sparse/pattern/sell_layout.hpp>
#include <krylith/sparse/sell/row_tile.cuh>

namespace krylith::cuda {

/// A block in CSR, and the places of its rows in slices. Plain data for kernels.
struct slice_source {
    const std::int64_t* offsets; ///< [rows + 1] from 0
    const std::int32_t* columns;
    const std::int32_t* rows; ///< [32 * slices], or null: the natural order
    std::int64_t row_count;
    std::int32_t slices;
};

class slice_pattern {
public:
    std::int32_t longest; ///< entries of the longest row: the length of the slice

    __device__ slice_pattern(const slice_source& from, std::int32_t slice,
                             row_tile<std::int32_t>& tile)
        : slice_pattern(row_of(from, slice), tile) {}

    /// Calls each(k, diagonal, lanes) for every slice-column k with the diagonal that the longest
    /// row has there and the lanes that have an entry on it: a lane's entry lies at the first
    /// slice-column on its diagonal after that of the entry before. Returns whether all entries
    /// found one; it may stop where one can't.
    template <class Each>
    [[nodiscard]] __device__ bool walk_diagonals(Each each) {
        std::int32_t placed = 0;
        for (std::int32_t k = 0; k < longest; ++k) {
            const std::int32_t next = column(placed) - row_;
            // Entry k of the longest row lies here by what diagonal means.
            const std::int32_t diagonal = __shfl_sync(all_lanes, next, longest_lane_);
            const bool here = placed < length_ && next == diagonal;
            each(k, diagonal, __ballot_sync(all_lanes, here));
            if (here) ++placed;
            // Fewer slice-columns are left than entries.
            if (__any_sync(all_lanes, length_ - placed > longest - k - 1)) return false;
        }
        return true;
    }

    /// The same where all 32 rows have the same diagonals, as most rows of a grid do, with fewer
    /// votes. Calls each(k, diagonal) until it sees that they have not, and returns whether they
    /// do.
    template <class Each>
    [[nodiscard]] __device__ bool walk_full_diagonals(Each each) {
        if (!__all_sync(all_lanes, length_ == longest)) return false;
        constexpr std::int32_t width = row_tile<std::int32_t>::width;
        for (std::int32_t first = 0; first < longest; first += width) {
            entries_.load(first);
#pragma unroll
            for (std::int32_t within = 0; within < width; ++within) {
                if (first + within >= longest) break;
                const std::int32_t diagonal = entries_.loaded(within) - row_;
                if (!__all_sync(all_lanes, diagonal == __shfl_sync(all_lanes, diagonal, 0)))
                    return false;
                each(first + within, diagonal);
            }
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
        const bool has = has_entry(k);
        return {
            __reduce_min_sync(all_lanes, has ? column : std::numeric_limits<std::int32_t>::max()),
            __reduce_max_sync(all_lanes, has ? column : 0), __ballot_sync(all_lanes, has)};
    }
    [[nodiscard]] __device__ bool has_entry(std::int32_t k) const {
        return k < length_;
    }
    /// The column of entry k of the lane's row; of no meaning where it has none.
    [[nodiscard]] __device__ std::int32_t column(std::int32_t k) {
        return entries_.entry(k, has_entry(k));
    }

    [[nodiscard]] __device__ bool is_narrow() {
        constexpr std::int32_t widest_span = std::numeric_limits<std::uint16_t>::max();
        for (std::int32_t k = 0; k < longest; ++k) {
            const extent e = extent_of(k, column(k));
            if (e.high - e.low > widest_span) return false;
        }
        return true;
    }

    [[nodiscard]] __device__ bool is_triples() {
        constexpr std::int32_t widest_span = std::numeric_limits<std::uint16_t>::max();
        if (__any_sync(all_lanes, length_ % 3 != 0)) return false;
        for (std::int32_t k = 0; k < longest; k += 3) {
            const std::int32_t first = column(k);
            const std::int32_t second = column(k + 1);
            const std::int32_t third = column(k + 2);
            const bool broken = has_entry(k) && (second - first != 1 || third - first != 2);
            if (__any_sync(all_lanes, broken)) return false;
            const extent e = extent_of(k, first);
            if (e.high - e.low > widest_span) return false;
        }
        return true;
    }

    /// Chooses the code of the slice.
    [[nodiscard]] __device__ column_code code(bool with_triples) {
        if (walk_full_diagonals([](std::int32_t, std::int32_t) {}) ||
            walk_diagonals([](std::int32_t, std::int32_t, unsigned) {}))
            return column_code::diagonal;
        if (with_triples && is_triples()) return column_code::triples;
        return is_narrow() ? column_code::narrow : column_code::wide;
    }

private:
    struct lane_row {
        const std::int32_t* columns;
        std::int32_t row;
        std::int32_t length;
    };
    /// Lanes beyond the last row have one without entries.
    [[nodiscard]] __device__ static lane_row row_of(const slice_source& from, std::int32_t slice) {
        const std::int64_t place = std::int64_t{slice} * slice_rows + lane_number();
        std::int64_t at = place < from.row_count ? place : -1;
        if (from.rows != nullptr) at = from.rows[place];
        if (at < 0) return {from.columns, 0, 0};
        const std::int64_t begin = from.offsets[at];
        return {from.columns + begin, static_cast<std::int32_t>(at),
                static_cast<std::int32_t>(from.offsets[at + 1] - begin)};
    }
    __device__ slice_pattern(const lane_row& own, row_tile<std::int32_t>& tile)
        : entries_(tile, own.columns, own.length), row_(own.row), length_(own.length) {
        longest = __reduce_max_sync(all_lanes, length_);
        const unsigned as_long = __ballot_sync(all_lanes, length_ == longest);
        longest_lane_ = __ffs(static_cast<int>(as_long)) - 1;
    }

    tiled_rows<std::int32_t> entries_;
    std::int32_t row_;
    std::int32_t length_;
    int longest_lane_; ///< the first lane that has as many entries as any
};

} // namespace krylith::cuda
