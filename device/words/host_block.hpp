// Memory of the host that kernels read and write while the host does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <krylith/device/device.hpp>

namespace krylith {

/// Makes a block, all 0, in host memory that kernels of all devices of that kind use. It begins a
/// cache line. It is freed at once: its owner has waited for kernels that use it. Throws
/// device_error, and std::bad_alloc for host devices.
[[nodiscard]] std::shared_ptr<std::byte> make_host_block(const std::shared_ptr<device>& device,
                                                         std::size_t bytes);

/// The same for one word, which is freed when the device has done its work so far.
[[nodiscard]] std::shared_ptr<std::uint32_t> make_host_word(const std::shared_ptr<device>& device);

} // namespace krylith
