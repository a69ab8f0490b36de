// What an execution keeps in the memory of each device, and the kernel context that leads kernels
// there.
#pragma once

#include <memory>
#include <vector>

#include <krylith/device/device_group.hpp>
#include <krylith/device/host/group_driver.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/vector/execution.hpp>

namespace krylith {

/// All zero at first. Peers store stamped values into it: whoever makes it waits for the group
/// before any kernel runs, and quiesces before it goes.
struct rank_memory {
    rank_memory(const device_group& group, int rank, const execution_options& options);

    std::unique_ptr<group_driver> driver; // of rank 0 only; first: before anything is enqueued
    buffer<double> slots;
    buffer<double> array;
    buffer<double> history; // of rank 0 only
    buffer<double> partials;
    buffer<stamped_value> own_slots;
    std::vector<buffer<stamped_value>> staging; // [to], empty where the path is direct
    buffer<stamped_value*> peer_slots;          // connect() makes these two
    buffer<std::uint64_t> published;
    buffer<unsigned> signals;
    buffer<std::int32_t> failure;
    buffer<std::int32_t*> failures;
    std::unique_ptr<loop_graph> loop; // last: its destructor waits for the device
};

using group_memory = std::vector<std::unique_ptr<rank_memory>>; // [ranks]

/// Tells a rank where its peers' memory is, once all of it is there. Returns the rank's kernel
/// context, with no program and nothing to wait for.
[[nodiscard]] kernel_context connect(const device_group& group, const group_memory& memory,
                                     int rank, const execution_options& options);

} // namespace krylith
