// How many blocks leave a partial sum each.
#pragma once

#include <cstdint>

#include <krylith/device/device.hpp>

namespace krylith {

/// Most blocks that any reducing kernel launches on this device: sizes kernel context partials.
[[nodiscard]] std::int64_t reduction_blocks(const device& device);

} // namespace krylith
