// Memory of the host: of host devices, and pages of their own.
#pragma once

#include <cstddef>

namespace krylith {

/// Allocates memory aligned to 256 bytes at least; large blocks to huge pages, which the system is
/// asked to use. Returns null where there is no memory.
[[nodiscard]] void* allocate_host_memory(std::size_t bytes) noexcept;
void free_host_memory(void* pointer) noexcept;

/// Maps whole pages of zeros that hold nothing else and are not touched yet, so that their node can
/// be chosen, and the choice ends with them. Huge pages as above. Returns null where there is no
/// memory. `bytes` is not 0.
[[nodiscard]] void* map_host_memory(std::size_t bytes) noexcept;
void unmap_host_memory(void* pointer, std::size_t bytes) noexcept;

/// Asks for huge pages: streams of vectors and the reads of x miss the TLB less. It is only a hint,
/// so a failure doesn't matter.
void ask_for_huge_pages(void* pointer, std::size_t bytes) noexcept;

} // namespace krylith
