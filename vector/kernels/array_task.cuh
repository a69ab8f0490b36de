// The kernel of tasks on kernel_context::array.
#pragma once

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/vector/execution/kernel_context_cuda.cuh>
#include <krylith/vector/kernels/array_task.hpp>

namespace krylith::cuda {

/// The lanes of a warp, which perform a task together.
struct warp_team {
    [[nodiscard]] __device__ int index() const { return lane_number(); }
    [[nodiscard]] __device__ int count() const { return 32; }
    __device__ void meet() const { __syncwarp(); }
    /// The sum over all threads, in a fixed order; the same in each of them.
    [[nodiscard]] __device__ double sum(double value) const { return warp_sum(value); }
};

template <class Task>
__global__ void task_kernel(const __grid_constant__ long_context parameter, const Task task) {
    __shared__ state_of<long_context> state;
    if (kernel_prologue(parameter, state))
        task(state.context.array, state.context.slots, warp_team{});
}

template <class Task>
void perform(device& device, const kernel_context& common, const Task& task) {
    const launch_scope launch(device);
    task_kernel<<<1, 32, 0, launch.stream()>>>(pack_context<long_context>(common), task);
    launch.check_launch();
}

} // namespace krylith::cuda
