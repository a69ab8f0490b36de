// Pieces of different lengths that a warp walks through as if they were one list, a lane an item.
#pragma once

#include <cstdint>

#include <krylith/device/cuda/warp.cuh>

namespace krylith::cuda {

/// Up to 32 pieces, one a lane.
class joined_pieces {
public:
    /// The lane's piece begins at `begin`. All lanes make this together.
    __device__ joined_pieces(std::int64_t begin, int length) {
        const int sum = warp_running_sum(length);
        at_ = sum - length;
        total_ = __shfl_sync(all_lanes, sum, 31);
        from_ = begin - at_;
        const unsigned filled = __ballot_sync(all_lanes, length != 0);
        if ((filled & (filled + 1)) != 0) leave_out_empty(filled);
    }

    [[nodiscard]] __device__ int total() const { return total_; } ///< items

    /// Where the items [first, first + 32) lie, one a lane; the lanes from the end on get anything.
    /// Called by all lanes for 0, 32, 64 and so on, once each.
    [[nodiscard]] __device__ std::int64_t next(int first) {
        const auto ahead = static_cast<unsigned>(at_ - first);
        const unsigned starts = __reduce_or_sync(all_lanes, ahead < 32 ? 1u << ahead : 0u);
        const unsigned up_to_own = (2u << lane_number()) - 1;
        const int piece = started_ + __popc(starts & up_to_own) - 1;
        started_ += __popc(starts);
        return __shfl_sync(all_lanes, from_, piece) + first + lane_number();
    }

private:
    /// Moves pieces down to the first lanes, so that the number of starts says which piece it is.
    __device__ void leave_out_empty(unsigned filled) {
        int source = 0; // the lane of filled piece number lane_number()
#pragma unroll
        for (int by = 16; by > 0; by /= 2)
            if (__popc(filled & ((1u << (source + by)) - 1)) <= lane_number()) source += by;
        from_ = __shfl_sync(all_lanes, from_, source);
        at_ = __shfl_sync(all_lanes, at_, source);
        if (lane_number() >= __popc(filled)) at_ = total_;
    }

    std::int64_t from_; ///< where the lane's piece begins, less the number of its first item
    int at_;            ///< the number of its first item
    int total_;
    int started_ = 0; ///< pieces that begin before the next item
};

} // namespace krylith::cuda
