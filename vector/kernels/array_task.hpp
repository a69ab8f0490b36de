// Tasks on kernel_context::array and a few scalars, which one team of threads of each device
// performs in a kernel of its own: the small dense problems of a method. A Task is plain data with
// `slots`, the places of its scalars, which execution::compute() fills in, and operator()(array,
// scalars, team). A Team is the threads that perform it together: index() of count(), meet() where
// others read what one of them has written, sum() over all. The method instantiates
// execution::compute() for its task in a .cpp that includes this, and cuda::perform() in a .cu that
// includes array_task.cuh.
#pragma once

#include <iterator>
#include <string>

#include <krylith/config.hpp>
#include <krylith/device/error.hpp>
#include <krylith/device/host/host_device.hpp>
#include <krylith/vector/execution.hpp>
#include <krylith/vector/execution/host_context.hpp>

namespace krylith {

namespace cuda {

template <class Task>
void perform(device& device, const kernel_context& common, const Task& task);

} // namespace cuda

namespace host {

/// The team of a host device.
struct lone_thread {
    [[nodiscard]] int index() const { return 0; }
    [[nodiscard]] int count() const { return 1; }
    void meet() const {}
    [[nodiscard]] double sum(double value) const { return value; }
};

template <class Task>
void perform(device& device, const kernel_context& common, const Task& task) {
    static_cast<host_device&>(device).submit([common, task] {
        registers reg;
        if (kernel_prologue(common, reg)) task(common.array, common.slots, lone_thread{});
    });
}

} // namespace host

template <class Task>
void execution::compute(Task task, std::span<const std::uint8_t> registers) {
    if (registers.size() > std::size(task.slots))
        throw usage_error("compute: " + std::to_string(registers.size()) +
                          " registers, but the task has " + std::to_string(std::size(task.slots)) +
                          " roles");
    join_if_awaited();
    fill_contexts(scalars_.finish(scalars_.places()));
    for (std::size_t role = 0; role < registers.size(); ++role)
        task.slots[role] = scalars_.slot(registers[role]);
    for (const int rank : comm_.local()) {
        device& device = comm_[rank];
#if KRYLITH_HAVE_CUDA
        if (device.kind() == backend::cuda) {
            cuda::perform(device, at(rank), task);
            continue;
        }
#endif
        host::perform(device, at(rank), task);
    }
}

} // namespace krylith
