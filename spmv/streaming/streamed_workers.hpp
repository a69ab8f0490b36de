// A host thread a part of a streamed product, on the NUMA node of the part's device.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <krylith/device/host/host_queue.hpp>
#include <krylith/device/numa.hpp>

namespace krylith {

/// Threads are made when they are first needed, and sleep between calls.
class streamed_workers {
public:
    explicit streamed_workers(numa_topology topology) : topology_(std::move(topology)) {}

    /// body(part) for each part, whose device has this rank; returns when all are done. Throws what
    /// the first failure says, as device_error; with one part, which the caller's thread does, the
    /// failure itself.
    void run(std::span<const int> device_of_part, const std::function<void(int)>& body);

private:
    numa_topology topology_;
    std::vector<std::unique_ptr<host_queue>> threads_; // by part
};

} // namespace krylith
