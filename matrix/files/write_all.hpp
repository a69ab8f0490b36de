// All of some bytes to a descriptor.
#pragma once

#include <cstddef>
#include <span>

namespace krylith::binary {

/// Goes on where the system takes only a part, or a signal came between. 0, or errno.
[[nodiscard]] int write_all(int descriptor, std::span<const std::byte> bytes) noexcept;

} // namespace krylith::binary
