// The epilogue of a kernel that reduces tens of values: post_batch with a warp for each value.
#pragma once

#include <krylith/vector/execution/kernel_context_cuda.cuh>

namespace krylith::cuda {

/// Adds up the blocks' partial sums and posts them to every rank; the last block calls it. Each
/// value is a trip to memory and back, and eight of them are in flight at once.
__device__ inline void post_large_batch(const compact_context& context, const reduction& out) {
    const std::uint64_t epoch = *context.all_reduce.published + 1;
    const int lane = static_cast<int>(threadIdx.x & 31);
    for (int v = static_cast<int>(threadIdx.x / 32); v < out.count; v += block_warps) {
        const double* from = out.partials + static_cast<std::int64_t>(v) * context.partial_stride;
        double sum = 0;
#pragma unroll 8
        for (unsigned b = lane; b < gridDim.x; b += 32) sum += __ldcg(from + b);
        sum = warp_sum(sum);
        post_sum(context.all_reduce, lane, epoch, v, out.count, [&] { return sum; });
    }
    __syncthreads(); // all have read the epoch
    if (threadIdx.x == 0) {
        *context.all_reduce.published = epoch;
        *context.all_reduce.signals = 0;
    }
}

} // namespace krylith::cuda
