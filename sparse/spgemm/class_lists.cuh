// Lists of the rows of each class, ascending, all in one pass over the rows: first each block
// counts its rows, then it knows where its part of each list begins.
#pragma once

#include <algorithm>
#include <cstdint>

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/cuda/warp.cuh>
#include <krylith/sparse/spgemm/row_lists.cuh>
#include <krylith/vector/execution/kernel_context_cuda.cuh>

namespace krylith::cuda {

/// The rows of a block: [begin, end), whole steps of its threads.
struct class_range {
    std::int64_t begin, end;

    [[nodiscard]] __device__ static class_range of_block(std::int64_t rows) {
        const std::int64_t steps = (rows + block_threads - 1) / block_threads;
        const std::int64_t length = (steps + gridDim.x - 1) / gridDim.x * block_threads;
        const std::int64_t begin = min(blockIdx.x * length, rows);
        return {begin, min(begin + length, rows)};
    }
};

/// Counts the rows of each class in each block: counts[block * most + class] of which(row).
template <class Class>
__global__ void __launch_bounds__(block_threads)
    count_classes(const __grid_constant__ Class which, std::int64_t rows, unsigned* counts) {
    __shared__ unsigned found[class_lists::most];
    if (threadIdx.x < class_lists::most) found[threadIdx.x] = 0;
    __syncthreads();
    const class_range mine = class_range::of_block(rows);
    for (std::int64_t first = mine.begin; first < mine.end; first += block_threads) {
        const std::int64_t row = first + threadIdx.x;
        const int own = row < mine.end ? which(static_cast<std::uint32_t>(row)) : -1;
        // Neighbours mostly have the same class: one addition for all of a class in the warp.
        const unsigned alike = __match_any_sync(all_lanes, own);
        if (own >= 0 && __ffs(static_cast<int>(alike)) - 1 == lane_number())
            atomicAdd(&found[own], static_cast<unsigned>(__popc(alike)));
    }
    __syncthreads();
    if (threadIdx.x < class_lists::most)
        counts[blockIdx.x * class_lists::most + threadIdx.x] = found[threadIdx.x];
}

/// Writes the lists. `counts` is null where there is one block.
template <class Class>
__global__ void __launch_bounds__(block_threads)
    list_classes(const __grid_constant__ Class which, std::int64_t rows, const unsigned* counts,
                 const __grid_constant__ class_lists to) {
    constexpr int most = class_lists::most;
    static_assert(most * block_warps <= block_threads);
    __shared__ unsigned before[most];                // listed by earlier blocks and steps
    __shared__ unsigned of_warps[most][block_warps]; // in this step
    const int warp = static_cast<int>(threadIdx.x / 32);
    const int lane = lane_number();
    if (threadIdx.x < most) before[threadIdx.x] = 0;
    if (threadIdx.x < most * block_warps)
        of_warps[threadIdx.x / block_warps][threadIdx.x % block_warps] = 0;
    __syncthreads();
    if (counts != nullptr) {
        unsigned sum = 0;
        for (unsigned b = threadIdx.x / most; b < blockIdx.x; b += block_threads / most)
            sum += counts[b * most + threadIdx.x % most];
        if (sum != 0) atomicAdd(&before[threadIdx.x % most], sum);
    }
    const class_range mine = class_range::of_block(rows);
    for (std::int64_t first = mine.begin; first < mine.end; first += block_threads) {
        const std::int64_t row = first + threadIdx.x;
        const int own = row < mine.end ? which(static_cast<std::uint32_t>(row)) : -1;
        const unsigned alike = __match_any_sync(all_lanes, own);
        if (own >= 0 && __ffs(static_cast<int>(alike)) - 1 == lane)
            of_warps[own][warp] = static_cast<unsigned>(__popc(alike));
        __syncthreads();
        if (own >= 0 && to.of[own] != nullptr) {
            unsigned place =
                before[own] + static_cast<unsigned>(__popc(alike & ((1u << lane) - 1)));
            for (int w = 0; w < warp; ++w) place += of_warps[own][w];
            to.of[own][place] = static_cast<std::int32_t>(row);
        }
        __syncthreads();
        if (threadIdx.x < most)
            for (unsigned& count : of_warps[threadIdx.x]) {
                before[threadIdx.x] += count;
                count = 0;
            }
        __syncthreads();
    }
}

/// Enqueues the lists of the classes of `rows` rows. `scratch` has symbolic_scratch_bytes.
template <class Class>
void list_by_class(device& device, const Class& which, std::int64_t rows, const class_lists& to,
                   void* scratch) {
    const launch_scope launch(device);
    const auto list = list_classes<Class>;
    if (rows <= 8 * block_threads) {
        list<<<1, block_threads, 0, launch.stream()>>>(which, rows, nullptr, to);
        return launch.check_launch();
    }
    auto* const counts = static_cast<unsigned*>(scratch);
    const unsigned blocks =
        std::min(class_lists::most_blocks,
                 launch.blocks(list, block_threads, (rows + block_threads - 1) / block_threads));
    count_classes<<<blocks, block_threads, 0, launch.stream()>>>(which, rows, counts);
    list<<<blocks, block_threads, 0, launch.stream()>>>(which, rows, counts, to);
    launch.check_launch();
}

} // namespace krylith::cuda
