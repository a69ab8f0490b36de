// Writes all of some bytes to a descriptor.
#pragma once

#include <cstddef>
#include <span>

namespace krylith::binary {

/// Writes on where the system takes only some of the bytes, or a signal interrupts. Returns 0 or
/// errno.
[[nodiscard]] int write_all(int descriptor, std::span<const std::byte> bytes) noexcept;

} // namespace krylith::binary
