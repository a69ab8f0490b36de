// A word of the host that kernels read while they wait.
#pragma once

#include <cstdint>
#include <memory>

#include <krylith/device/device.hpp>

namespace krylith {

/// Makes a word, 0, in host memory that kernels of all devices of that kind read. Throws
/// device_error.
[[nodiscard]] std::shared_ptr<std::uint32_t> make_host_word(const std::shared_ptr<device>& device);

} // namespace krylith
