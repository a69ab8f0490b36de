// What the host is doing, for those who look on with NVIDIA Nsight Systems.
#pragma once

#include <krylith/device/language/cxx20.hpp>

namespace krylith {

/// A range of the NVTX domain "krylith" on the timeline of the thread, from construction to
/// destruction; ranges nest. Where no tool is attached it costs some nanoseconds, in a build
/// without CUDA nothing happens. A recorded loop is one range a launch: what runs in it is on the
/// timeline of the device.
class trace_range {
public:
    explicit trace_range(const char* name) noexcept;
    trace_range(const trace_range&) = delete;
    trace_range& operator=(const trace_range&) = delete;
    ~trace_range();
};

} // namespace krylith
