// Waiting of CUDA kernels for counts of peers.
#pragma once

#include <cstdint>

#include <krylith/comm/channel/channel_view.hpp>
#include <krylith/device/kernel/peer_memory.cuh>

namespace krylith::cuda {

/// Waits until a peer has counted up to `least`. Returns false as wait_until() does.
__device__ inline bool await_count(const all_reduce_slots& all_reduce, const peer_count& of,
                                   std::uint64_t least) {
    return wait_until(all_reduce, static_cast<int>(of.peer),
                      [&] { return load_acquire(&of.count) >= least; });
}

} // namespace krylith::cuda
