// The device side of ghost_push: what a kernel that writes an operand adds to its loop.
#pragma once

#include <krylith/vector/ghosts/ghost_put.hpp>
#include <krylith/vector/scalar/kernel_context_cuda.cuh>

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

/// By the block's first warp, before its first store to a peer; a barrier must follow.
template <class T>
__device__ inline void await_receivers(const compact_frame& f, const ghost_push<T>& push) {
    if (push.ordered || static_cast<int>(threadIdx.x) >= f.mail.ranks ||
        (push.to >> threadIdx.x & 1) == 0)
        return;
    const std::uint64_t pushed = *push.pushed;
    wait_until(f.mail, static_cast<int>(threadIdx.x),
               [&] { return load_acquire(push.ready + threadIdx.x) >= pushed; });
}

/// Dense pushes: calls `store(ghosts)` for each receiver. Every rank begins with the one after it,
/// so that not all send to the same at once.
template <class T, class Store>
__device__ inline void for_receivers(const compact_frame& f, const ghost_push<T>& push,
                                     Store store) {
    for (int k = 1; k < f.ranks; ++k) {
        int peer = f.mail.rank + k;
        if (peer >= f.ranks) peer -= f.ranks;
        if ((push.to >> peer & 1) != 0) store(push.ghosts[peer]);
    }
}

/// After the block has written tile number `turn` of the order (turn < sending_tiles): stores its
/// entries at the peers. `first` is true for the block's first sending tile. `values` is the
/// operand.
template <class T>
__device__ inline void send_tile(const compact_frame& f, const ghost_push<T>& push,
                                 std::int32_t turn, const T* values, bool first) {
    if (first) await_receivers(f, push);
    __syncthreads(); // the tile is written, the peers are ready
    const std::int32_t end = push.first_entry[turn + 1];
    for (std::int32_t e = push.first_entry[turn] + static_cast<std::int32_t>(threadIdx.x); e < end;
         e += block_threads) {
        const push_entry entry = push.entries[e];
        push.ghosts[entry.peer][entry.position] = values[entry.row];
    }
}

/// 16 bytes of entries.
template <class T>
struct alignas(16) pack {
    T value[16 / sizeof(T)];
};

template <class T>
inline constexpr int pack_size = 16 / sizeof(T);

/// Dense pushes: entries first .. first + pack_size to all receivers, one store each where it is
/// aligned. The threads of a warp have neighbouring packs: whole lines go to each peer.
template <class T>
__device__ inline void send_pack(const compact_frame& f, const ghost_push<T>& push,
                                 const pack<T>& entries, std::int64_t first) {
    const bool whole = first + pack_size<T> <= push.dense;
    for_receivers(f, push, [&](T* ghosts) {
        T* const to = ghosts + first;
        if (whole && reinterpret_cast<std::uintptr_t>(to) % sizeof(pack<T>) == 0) {
            *reinterpret_cast<pack<T>*>(to) = entries;
        } else {
#pragma unroll
            for (int k = 0; k < pack_size<T>; ++k)
                if (first + k < push.dense) to[k] = entries.value[k];
        }
    });
}

/// After a block's last tile: the block that finishes the last sending tile tells the peers. Put
/// off until then, since waiting for remote stores would hold up the block's other tiles. The
/// stores are ordered by cumulativity: barrier, ticket (acquire and release), release at system
/// scope.
template <class T>
__device__ inline void finish_push(const compact_frame& f, const ghost_push<T>& push,
                                   std::int32_t tiles_sent) {
    if (push.sending_tiles == 0) { // nothing to send, but the push counts
        if (blockIdx.x == 0 && threadIdx.x == 0) *push.pushed += 1;
        return;
    }
    if (tiles_sent == 0) return;
    __syncthreads();
    if (threadIdx.x >= 32) return;
    std::uint64_t number = 0;
    if (threadIdx.x == 0) {
        number = *push.pushed + 1;
        const auto sent = static_cast<unsigned>(tiles_sent);
        if (count_blocks(push.ticket, sent) + sent != static_cast<unsigned>(push.sending_tiles))
            number = 0;
    }
    number = __shfl_sync(0xffffffffu, number, 0);
    if (number == 0) return;
    if (static_cast<int>(threadIdx.x) < f.mail.ranks && (push.to >> threadIdx.x & 1) != 0)
        store_release(push.sent[threadIdx.x], number);
    if (threadIdx.x == 0) {
        *push.pushed = number;
        *push.ticket = 0;
    }
}

} // namespace krylith::cuda
