// The slabs of a host device.
#pragma once

#include <cstddef>
#include <memory>

#include <krylith/device/host/shared_slabs.hpp>
#include <krylith/device/memory/slab_arena.hpp>

namespace krylith {

/// Smaller blocks come from the C library, which keeps them for the next one by itself.
inline constexpr std::size_t least_arena_block = std::size_t{1} << 20;

/// Makes the arena from which a host device of so many threads allocates large blocks. The system
/// clears each page that it hands out, which takes longer than most passes over the memory; a block
/// that is used again costs nothing. Slabs without a block in use are kept up to the device's share
/// of 1/16 of the machine's memory, by its threads among the processors. Returns null under
/// AddressSanitizer, with KRYLITH_SLABS=off, and where the machine has several NUMA nodes: the
/// first touch of a page chooses its node there, which should be that of its next user. Throws as
/// slabs_wanted() does.
[[nodiscard]] std::unique_ptr<slab_arena> make_host_arena(int threads);
/// Makes one whose slabs other processes can map, on any machine and for blocks of all sizes. The
/// slabs must outlive it.
[[nodiscard]] std::unique_ptr<slab_arena> make_host_arena(int threads, shared_slabs& slabs);

} // namespace krylith
