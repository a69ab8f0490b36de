// Pieces of different lengths that a warp walks through as if they were one list, a lane an item.
#pragma once

#include <cstdint>

#include <krylith/device/cuda/warp.cuh>

namespace krylith::cuda {

/// Up to 32 pieces, one a lane. Where is the type of places in what they are pieces of.
template <class Where>
class joined_pieces {
public:
    /// The lane's piece begins at `begin`. All lanes make this together.
    __device__ joined_pieces(Where begin, int length) {
        const int sum = warp_running_sum(length);
        before_ = at_ = sum - length;
        total_ = __shfl_sync(all_lanes, sum, 31);
        from_ = begin - static_cast<Where>(at_); // modulo 2^32 of 32 bits without a sign
        const unsigned filled = __ballot_sync(all_lanes, length != 0);
        if ((filled & (filled + 1)) != 0) leave_out_empty(filled);
    }

    [[nodiscard]] __device__ int total() const { return total_; }   ///< items
    [[nodiscard]] __device__ int before() const { return before_; } ///< items of lower lanes

    /// Where the items [first, first + 32) lie, one a lane; the lanes from the end on get anything.
    /// Called by all lanes for 0, 32, 64 and so on, once each.
    [[nodiscard]] __device__ Where next(int first) {
        const auto ahead = static_cast<unsigned>(at_ - first);
        const unsigned starts = __reduce_or_sync(all_lanes, ahead < 32 ? 1u << ahead : 0u);
        const unsigned up_to_own = (2u << lane_number()) - 1;
        const int piece = started_ + __popc(starts & up_to_own) - 1;
        started_ += __popc(starts);
        return __shfl_sync(all_lanes, from_, piece) + static_cast<Where>(first + lane_number());
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

    Where from_; ///< where the lane's piece begins, less the number of its first item
    int at_;     ///< the number of its first item
    int before_;
    int total_;
    int started_ = 0; ///< pieces that begin before the next item
};

} // namespace krylith::cuda
