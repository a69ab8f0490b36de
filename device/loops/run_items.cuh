// Loops over items on CUDA devices.
#pragma once

#include <cstdint>
#include <tuple>

#include <krylith/device/cuda/launch_over.cuh>
#include <krylith/device/loops/run_items.hpp>

namespace krylith::cuda {

template <class Task>
__global__ void __launch_bounds__(block_threads)
    run_task(const __grid_constant__ Task task, std::int64_t count) {
    for (std::int64_t i = first_item(); i < count; i += item_stride()) task(i);
}

template <class Task>
void run_items(device& device, const Task& task, std::int64_t count) {
    launch_over(device, count, run_task<Task>, task, count);
}

/// `template struct item_runs<task, other>;` emits run_items() for these tasks.
template <class... Tasks>
struct item_runs {
    static constexpr std::tuple addresses{&run_items<Tasks>...};
};

} // namespace krylith::cuda
