// Host memory that kernels of all devices can write.
#pragma once

#include <cstddef>

#include <krylith/device/host/shared_slabs.hpp>

namespace krylith::cuda {

/// Returns at least `bytes`, all 0, which begin a cache line. It is pinned and mapped, and kernels
/// take the same pointer, since krylith's devices have unified addressing. Throws device_error.
///
/// Blocks come from pieces of 256 KiB that the process keeps: to make one takes the runtime 1.4 ms,
/// as long as a small solve, and to free one waits for all devices.
[[nodiscard]] void* allocate_posted_memory(int ordinal, std::size_t bytes);
/// The pieces, which other processes can map; none where the system has no such memory.
[[nodiscard]] shared_slabs& posted_slabs();
/// Takes the block back; no kernel may write it any more.
void free_posted_memory(void* memory) noexcept;

} // namespace krylith::cuda
