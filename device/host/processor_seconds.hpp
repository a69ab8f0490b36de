// Clocks for work on a device, read when it is idle.
#pragma once

#include <krylith/device/device.hpp>

namespace krylith {

/// The processor time of the thread of a host device, in seconds: what others that use the machine
/// hardly affect. Waits for the device, which must be a host device.
[[nodiscard]] double processor_seconds(device& host);

/// The processor time on a host device of one thread, else the time that passes, in seconds from
/// any begin. Waits for the device.
[[nodiscard]] double idle_seconds(device& device);

} // namespace krylith
