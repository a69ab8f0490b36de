// Launches on several CUDA devices that begin together. Defined where KRYLITH_HAVE_CUDA is 1.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <krylith/device/device.hpp>

namespace krylith::cuda {

/// Streams wait at the gate for a word of host memory (cuStreamWaitValue32), which the host writes
/// once it has launched on all devices: no kernel knows of it, and a solve pays some microseconds.
/// Where the driver has no such operation the gate is always open.
class launch_gate {
public:
    explicit launch_gate(const std::vector<std::shared_ptr<device>>& devices);
    launch_gate(const launch_gate&) = delete;
    launch_gate& operator=(const launch_gate&) = delete;
    ~launch_gate();

    /// What is enqueued on the devices' streams from here on begins after open().
    void close();
    void open() noexcept;

private:
    const std::vector<std::shared_ptr<device>>& devices_;
    std::uint32_t* word_;
    std::uint32_t round_ = 0;
};

} // namespace krylith::cuda
