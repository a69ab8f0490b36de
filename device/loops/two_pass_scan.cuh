// Running sums of sizes whose number the device knows, in two kernels, or one where there are few:
// first the sums of the ranges of blocks, then each block adds up its range from the sum of those
// before it. No block waits for another.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <krylith/device/cuda/block.cuh>
#include <krylith/device/cuda/cuda_device.cuh>

namespace krylith::cuda {

inline constexpr unsigned most_scan_blocks = 2048;
inline constexpr int scan_in_flight = 4; ///< sizes that a thread loads in a step
inline constexpr std::uint32_t scan_step = block_threads * scan_in_flight;

/// The type of the sizes of items, and of their sums.
template <class Items>
using size_of_items = decltype(std::declval<const Items&>().load(0).size);

/// The scratch of the second pass: one sum for each block.
template <class Size = std::int32_t>
inline constexpr std::size_t scan_scratch_bytes_of = most_scan_blocks * sizeof(Size);
inline constexpr std::size_t scan_scratch_bytes = scan_scratch_bytes_of<>;

/// The range of a block: whole steps.
struct scan_range {
    std::uint32_t begin, end;

    [[nodiscard]] __device__ static scan_range of_block(std::uint32_t count) {
        const std::uint64_t steps = (std::uint64_t{count} + scan_step - 1) / scan_step;
        const std::uint64_t length = (steps + gridDim.x - 1) / gridDim.x * scan_step;
        const auto at = [&](std::uint64_t block) {
            return static_cast<std::uint32_t>(min(block * length, std::uint64_t{count}));
        };
        return {at(blockIdx.x), at(std::uint64_t{blockIdx.x} + 1)};
    }
};

/// Adds up a value of each thread; all threads get the sum.
template <class Size>
[[nodiscard]] __device__ inline Size sum_of_block(Size value) {
    __shared__ Size warp_sums[block_warps];
    return block_sum_for_all(value, warp_sums);
}

// Items have count(); load(i), which returns an item with a `size`; emit(there, i, item, before),
// which whole warps call in the order of i; and finish(total), which one thread calls.

template <class Items>
__global__ void __launch_bounds__(block_threads)
    scan_sums(const __grid_constant__ Items items, size_of_items<Items>* sums) {
    const scan_range mine = scan_range::of_block(items.count());
    size_of_items<Items> sum = 0;
    // The loop counts offsets: the last i of 2^32 would wrap round.
    for (std::uint32_t k = threadIdx.x; k < mine.end - mine.begin; k += block_threads)
        sum += items.load(mine.begin + k).size;
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

template <class Items>
__global__ void __launch_bounds__(block_threads)
    scan_items(const __grid_constant__ Items items, const size_of_items<Items>* sums) {
    static_assert(scan_in_flight * block_warps == 32, "one warp adds up the parts of a step");
    using size = size_of_items<Items>;
    __shared__ size parts[32]; // of a warp and load, in the order of items
    __shared__ size step_sum;
    const scan_range mine = scan_range::of_block(items.count());
    const int warp = static_cast<int>(threadIdx.x / 32);
    const int lane = static_cast<int>(threadIdx.x & 31);
    size before = 0;
    if (sums != nullptr) {
        for (unsigned b = threadIdx.x; b < blockIdx.x; b += block_threads) before += sums[b];
        before = sum_of_block(before);
    }
    const std::uint32_t length = mine.end - mine.begin;
    for (std::uint32_t first = 0; first < length; first += scan_step) {
        decltype(items.load(0)) item[scan_in_flight]{};
        bool there[scan_in_flight];
        size sum[scan_in_flight];
#pragma unroll
        for (int u = 0; u < scan_in_flight; ++u) {
            const std::uint32_t k = first + u * block_threads + threadIdx.x;
            there[u] = k < length;
            if (there[u]) item[u] = items.load(mine.begin + k);
        }
#pragma unroll
        for (int u = 0; u < scan_in_flight; ++u) {
            sum[u] = warp_running_sum(there[u] ? item[u].size : size{0});
            if (lane == 31) parts[u * block_warps + warp] = sum[u];
        }
        __syncthreads();
        if (warp == 0) {
            const size part = parts[lane];
            const size so_far = warp_running_sum(part);
            parts[lane] = so_far - part;
            if (lane == 31) step_sum = so_far;
        }
        __syncthreads();
#pragma unroll
        for (int u = 0; u < scan_in_flight; ++u)
            items.emit(there[u], mine.begin + first + u * block_threads + threadIdx.x, item[u],
                       before + parts[u * block_warps + warp] + sum[u] -
                           (there[u] ? item[u].size : size{0}));
        before += step_sum;
        __syncthreads();
    }
    if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) items.finish(before);
}

/// Enqueues both passes. `bound` is at least the number of sizes. `scratch` has
/// scan_scratch_bytes_of the type of the sizes.
template <class Items>
void scan(device& device, const Items& items, std::int64_t bound, void* scratch) {
    const launch_scope launch(device);
    const auto second = scan_items<Items>;
    if (bound <= 2 * std::int64_t{scan_step}) {
        second<<<1, block_threads, 0, launch.stream()>>>(items, nullptr);
        return launch.check_launch();
    }
    auto* const sums = static_cast<size_of_items<Items>*>(scratch);
    const unsigned blocks =
        std::min(most_scan_blocks,
                 launch.blocks(second, block_threads, (bound + scan_step - 1) / scan_step));
    scan_sums<<<blocks, block_threads, 0, launch.stream()>>>(items, sums);
    second<<<blocks, block_threads, 0, launch.stream()>>>(items, sums);
    launch.check_launch();
}

} // namespace krylith::cuda
