// Numbers of device memory that the host needs to go on, with one wait for all of them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <krylith/device/device.hpp>

namespace krylith {

/// Returns the numbers at these places of a device, as they are when what was enqueued is done. For
/// the few of a set-up: each is a copy.
[[nodiscard]] std::vector<std::int64_t>
download_numbers(device& on, std::span<const std::int64_t* const> places);

} // namespace krylith
