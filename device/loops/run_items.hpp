// Loops over items, each on its own: a task is a plain struct with operator()(item), one definition
// for hosts and GPUs.
#pragma once

#include <cstdint>

#include <krylith/device/loops/backend_choice.hpp>
#include <krylith/device/loops/host_parts.hpp>

namespace krylith {

namespace host {

template <class Task>
void run_items(device& device, const Task& task, std::int64_t count) {
    in_ranges(device, count, [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) task(i);
    });
}

} // namespace host

namespace cuda {

/// run_items.cuh has it: a .cu of the task's folder instantiates it.
template <class Task>
void run_items(device& device, const Task& task, std::int64_t count);

} // namespace cuda

/// Enqueues task(i) for 0 <= i < count.
template <class Task>
void run_items(device& device, const Task& task, std::int64_t count) {
    if (count != 0) KRYLITH_ON(device, run_items(device, task, count));
}

} // namespace krylith
