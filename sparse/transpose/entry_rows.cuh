// The rows of consecutive nonzeros, found by a warp: 32 offsets at a time, in registers.
#pragma once

#include <cstdint>

#include <krylith/device/cuda/warp.cuh>

namespace krylith::cuda {

inline constexpr int warp_window = 1024; ///< entries that a warp finds the rows of

[[nodiscard]] __device__ inline unsigned lanes_below() {
    return (1u << lane_number()) - 1;
}

/// The rows first .. first + 31, a lane each, without the empty ones: lane t has the t-th that is
/// not. All lanes of a warp call each function together.
struct row_group {
    std::int64_t end; ///< behind the last nonzero of these rows
    int ahead;        ///< from `base` to the first nonzero of the lane's row; `far` without a row
    int row;          ///< the lane's, from `first`

    /// Loads the offsets; rows at and behind `rows` have no nonzeros. `base` is the position from
    /// which nonzeros are counted; row_of() serves those less than `far` behind it.
    [[nodiscard]] static __device__ row_group load(const std::int64_t* offsets, std::int64_t first,
                                                   std::int64_t rows, std::int64_t base) {
        const int lane = lane_number();
        const std::int64_t at = offsets[min(first + lane, rows)];
        std::int64_t next = __shfl_down_sync(all_lanes, at, 1);
        if (lane == 31) next = offsets[min(first + 32, rows)];
        row_group g;
        g.end = __shfl_sync(all_lanes, next, 31);
        g.ahead = static_cast<int>(min(max(at - base, std::int64_t{-far}), std::int64_t{far}));
        g.row = lane;
        const unsigned there = __ballot_sync(all_lanes, next > at);
        if (there == all_lanes) return g;
        const int count = __popc(there);
        g.row = lane < count ? static_cast<int>(__fns(there, 0, lane + 1)) : 0;
        const int moved = __shfl_sync(all_lanes, g.ahead, g.row);
        g.ahead = lane < count ? moved : far;
        return g;
    }

    /// The lane that has the row of the nonzero at base + step + own lane, for lanes where it is
    /// one of this group's.
    [[nodiscard]] __device__ int lane_of(int step) const {
        const int to_go = ahead - step;
        const int started = __popc(__ballot_sync(all_lanes, to_go <= 0));
        const unsigned heads =
            __reduce_or_sync(all_lanes, to_go > 0 && to_go < 32 ? 1u << to_go : 0u);
        return (started - 1 + __popc(heads & (lanes_below() << 1 | 1u))) & 31;
    }
    /// That row, from `first`.
    [[nodiscard]] __device__ int row_of(int step) const {
        return __shfl_sync(all_lanes, row, lane_of(step));
    }

    static constexpr int far = 1 << 30;
};

/// The last row whose first nonzero is not behind `position`: the row of the nonzero there.
[[nodiscard]] __device__ inline std::int64_t row_at(const std::int64_t* offsets, std::int64_t rows,
                                                    std::int64_t position) {
    std::int64_t low = 0;
    std::int64_t high = rows; // offsets[high] > position
    while (high - low > 1) {
        const std::int64_t middle = low + (high - low) / 2;
        (offsets[middle] <= position ? low : high) = middle;
    }
    return low;
}

} // namespace krylith::cuda
