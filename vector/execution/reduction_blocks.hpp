// The number of blocks that leave a partial sum each.
#pragma once

#include <cstdint>

#include <krylith/device/device.hpp>

namespace krylith {

/// The largest number of blocks that a reducing kernel launches on this device: it sizes
/// kernel_context::partials.
[[nodiscard]] std::int64_t reduction_blocks(const device& device);

} // namespace krylith
