// Sums over the threads of a block, in a fixed order: the lanes of each warp in a tree, then the
// warps one after the other. All threads of the block call them together.
#pragma once

#include <krylith/device/cuda/atomics.cuh>
#include <krylith/device/cuda/warp.cuh>

namespace krylith::cuda {

/// The threads of most blocks.
inline constexpr int block_threads = 256;
inline constexpr int block_warps = block_threads / 32;

/// The first half of a block's sum: the sum of each warp goes to its place in shared memory. A
/// barrier must follow before sum_of_warps reads them.
template <class V>
__device__ inline void store_warp_sum(V value, V* warp_sums) {
    value = warp_sum(value);
    if (lane_number() == 0) warp_sums[threadIdx.x / 32] = value;
}

/// The second half of a block's sum, which any thread can compute.
template <class V, int Warps>
[[nodiscard]] __device__ inline V sum_of_warps(const V (&warp_sums)[Warps]) {
    V sum = 0;
    for (int w = 0; w < Warps; ++w) sum += warp_sums[w];
    return sum;
}

/// Sum over the block, valid in thread 0.
template <class V, int Warps>
[[nodiscard]] __device__ inline V block_sum(V value, V (&warp_sums)[Warps]) {
    store_warp_sum(value, warp_sums);
    __syncthreads();
    V sum = 0;
    if (threadIdx.x == 0) sum = sum_of_warps(warp_sums);
    __syncthreads();
    return sum;
}

/// Sum over the block, known to all threads.
template <class V, int Warps>
[[nodiscard]] __device__ inline V block_sum_for_all(V value, V (&warp_sums)[Warps]) {
    store_warp_sum(value, warp_sums);
    __syncthreads();
    const V sum = sum_of_warps(warp_sums);
    __syncthreads();
    return sum;
}

/// Returns whether this block is the last of the grid to get here. What all blocks wrote before is
/// visible to that one. `arrived` is 0 before the first block comes.
[[nodiscard]] __device__ inline bool last_block(unsigned* arrived) {
    __shared__ unsigned ticket;
    __syncthreads();
    if (threadIdx.x == 0) ticket = add_acq_rel(arrived, 1);
    __syncthreads();
    return ticket == gridDim.x - 1;
}

} // namespace krylith::cuda
