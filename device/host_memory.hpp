// Memory of host devices.
#pragma once

#include <cstddef>

namespace krylith {

/// Aligned to 256 bytes at least; large blocks to huge pages, which the system is asked to use.
/// Null where there is no memory.
[[nodiscard]] void* allocate_host_memory(std::size_t bytes) noexcept;
void free_host_memory(void* pointer) noexcept;

/// Bytes that the system could give without swapping.
[[nodiscard]] std::size_t available_host_memory();

} // namespace krylith
