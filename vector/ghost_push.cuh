// The device side of ghost_push: what a kernel that writes an operand adds to its loop.
#pragma once

#include <krylith/vector/ghost_push.hpp>
#include <krylith/vector/kernel_frame.cuh>

namespace krylith::cuda {

/// At the start, by block 0: peers may send again, since all earlier kernels of this stream, and so
/// all readers of the ghosts, are done. Usually the product has already said so.
template <class T>
__device__ inline void allow_next_push(const ghost_push<T>& push, int ranks) {
    if (blockIdx.x != 0 || push.ordered) return;
    const std::uint64_t pushed = *push.pushed;
    if (*push.acknowledged == pushed) return;
    __syncthreads(); // all have read it
    if (static_cast<int>(threadIdx.x) < ranks && (push.from >> threadIdx.x & 1) != 0)
        store_release(push.readies[threadIdx.x], pushed);
    if (threadIdx.x == 0) *push.acknowledged = pushed;
}

/// After the block has written tile number `turn` of the order (turn < sending_tiles): sends its
/// entries; the last sending tile tells the peers. `values` is the operand.
template <class T>
__device__ inline void send_tile(const frame& f, const ghost_push<T>& push, std::int32_t turn,
                                 const T* values) {
    __shared__ unsigned finished;
    const std::uint64_t pushed = *push.pushed;
    if (!push.ordered && threadIdx.x < 32 && static_cast<int>(threadIdx.x) < f.mail.ranks &&
        (push.to >> threadIdx.x & 1) != 0)
        wait_until(f.mail, static_cast<int>(threadIdx.x),
                   [&] { return load_acquire(push.ready + threadIdx.x) >= pushed; });
    __syncthreads(); // the tile is written, the peers are ready
    const std::int32_t end = push.first_entry[turn + 1];
    for (std::int32_t e = push.first_entry[turn] + static_cast<std::int32_t>(threadIdx.x); e < end;
         e += block_threads) {
        const push_entry entry = push.entries[e];
        push.ghosts[entry.peer][entry.position] = values[entry.row];
    }
    __threadfence_system();
    __syncthreads();
    if (threadIdx.x == 0) {
        finished = atomicAdd(push.ticket, 1u) + 1;
        __threadfence_system();
    }
    __syncthreads();
    if (finished != static_cast<unsigned>(push.sending_tiles)) return;
    if (static_cast<int>(threadIdx.x) < f.mail.ranks && (push.to >> threadIdx.x & 1) != 0)
        store_release(push.sent[threadIdx.x], pushed + 1);
    if (threadIdx.x == 0) {
        *push.pushed = pushed + 1;
        *push.ticket = 0;
    }
}

/// At the end: a rank without anything to send counts the push all the same.
template <class T>
__device__ inline void count_empty_push(const ghost_push<T>& push) {
    if (push.sending_tiles == 0 && blockIdx.x == 0 && threadIdx.x == 0) *push.pushed += 1;
}

} // namespace krylith::cuda
