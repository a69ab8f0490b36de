// Kernels whose threads take one item after the other.
#pragma once

#include <cstdint>

#include <krylith/device/cuda/block.cuh>
#include <krylith/device/cuda/cuda_device.cuh>

namespace krylith::cuda {

/// The first item of a thread in blocks of block_threads, and how far its next one is.
[[nodiscard]] __device__ inline std::int64_t first_item() {
    return std::int64_t{blockIdx.x} * block_threads + threadIdx.x;
}
[[nodiscard]] __device__ inline std::int64_t item_stride() {
    return std::int64_t{gridDim.x} * block_threads;
}

/// Launches a kernel for so many blocks' worth of work, if there is any.
template <int Threads = block_threads, class Kernel, class... Arguments>
void launch_blocks(device& on, std::int64_t blocks, Kernel kernel, const Arguments&... arguments) {
    if (blocks == 0) return;
    const launch_scope launch(on);
    kernel<<<launch.blocks(kernel, Threads, blocks), Threads, 0, launch.stream()>>>(arguments...);
    launch.check_launch();
}

/// Launches a kernel that gives each of `items` a thread, or several of them in turn.
template <class Kernel, class... Arguments>
void launch_over(device& on, std::int64_t items, Kernel kernel, const Arguments&... arguments) {
    launch_blocks(on, (items + block_threads - 1) / block_threads, kernel, arguments...);
}

} // namespace krylith::cuda
