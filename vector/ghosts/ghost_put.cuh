// The device side of ghost_put: what a kernel that writes a domain vector adds to its loop.
#pragma once

#include <krylith/vector/execution/kernel_context_cuda.cuh>
#include <krylith/vector/ghosts/ghost_put.hpp>

namespace krylith::cuda {

/// Tells peers that they may send again: all earlier kernels of this stream, and so all readers of
/// the ghosts, are done. Block 0 calls it at the start of its kernel. Usually the product has
/// already told the peers.
template <class T>
__device__ inline void give_credit(const ghost_put<T>& put, int ranks) {
    if (blockIdx.x != 0 || put.ordered) return;
    const std::uint64_t put_count = *put.put_count;
    if (*put.credited == put_count) return;
    __syncthreads(); // all have read it
    if (static_cast<int>(threadIdx.x) < ranks && (put.from >> threadIdx.x & 1) != 0)
        store_release(put.peer_credits[threadIdx.x], put_count);
    if (threadIdx.x == 0) *put.credited = put_count;
}

/// Waits for the credits of all receivers. The first warp of a block calls it before its first
/// store to a peer; a barrier must follow.
template <class T>
__device__ inline void await_credits(const compact_context& context, const ghost_put<T>& put) {
    if (put.ordered || static_cast<int>(threadIdx.x) >= context.all_reduce.ranks ||
        (put.to >> threadIdx.x & 1) == 0)
        return;
    const std::uint64_t put_count = *put.put_count;
    wait_until(context.all_reduce, static_cast<int>(threadIdx.x),
               [&] { return load_acquire(put.credits + threadIdx.x) >= put_count; });
}

/// Calls `store(ghosts)` for each receiver of a dense put. Every rank begins with the one after it,
/// so that not all send to the same rank at once.
template <class T, class Store>
__device__ inline void for_receivers(const compact_context& context, const ghost_put<T>& put,
                                     Store store) {
    for (int k = 1; k < context.ranks; ++k) {
        int peer = context.all_reduce.rank + k;
        if (peer >= context.ranks) peer -= context.ranks;
        if ((put.to >> peer & 1) != 0) store(put.ghosts[peer]);
    }
}

/// Stores the entries of a tile at the peers. The block calls it after it has written tile number
/// `position` of the order (position < sending_tiles). `first` is true for the block's first
/// sending tile. `values` is the domain vector.
template <class T>
__device__ inline void send_tile(const compact_context& context, const ghost_put<T>& put,
                                 std::int32_t position, const T* values, bool first) {
    if (first) await_credits(context, put);
    __syncthreads(); // the tile is written, the peers have given credit
    const std::int32_t end = put.first_entry[position + 1];
    for (std::int32_t e = put.first_entry[position] + static_cast<std::int32_t>(threadIdx.x);
         e < end; e += block_threads) {
        const put_entry entry = put.entries[e];
        put.ghosts[entry.peer][entry.position] = values[entry.row];
    }
}

template <class T>
inline constexpr int pack_size = 16 / sizeof(T);

/// A pack is 16 bytes of entries, or as many entries as the packs of another type in the same pass
/// have.
template <class T, int Count = pack_size<T>>
struct alignas(Count * sizeof(T)) pack {
    T value[Count];
};

/// Stores the entries of a pack from `first` on of a dense put at all receivers, with one store
/// each where the place is aligned. The threads of a warp have neighbouring packs: whole cache
/// lines go to each peer.
template <class T, int Count>
__device__ inline void send_pack(const compact_context& context, const ghost_put<T>& put,
                                 const pack<T, Count>& entries, std::int64_t first) {
    const bool whole = first + Count <= put.dense;
    for_receivers(context, put, [&](T* ghosts) {
        T* const to = ghosts + first;
        if (whole && reinterpret_cast<std::uintptr_t>(to) % sizeof(entries) == 0) {
            *reinterpret_cast<pack<T, Count>*>(to) = entries;
        } else {
#pragma unroll
            for (int k = 0; k < Count; ++k)
                if (first + k < put.dense) to[k] = entries.value[k];
        }
    });
}

/// Ends a block's part in a put; called after its last tile. The block that finishes the last
/// sending tile signals the put to the peers. No block signals earlier, since waiting for remote
/// stores would hold up its other tiles. The stores are ordered by cumulativity: barrier, ticket
/// (acquire and release), release at system scope.
template <class T>
__device__ inline void signal_put(const compact_context& context, const ghost_put<T>& put,
                                  std::int32_t tiles_sent) {
    if (put.sending_tiles == 0) { // it sends nothing, but the put is counted
        if (blockIdx.x == 0 && threadIdx.x == 0) *put.put_count += 1;
        return;
    }
    if (tiles_sent == 0) return;
    __syncthreads();
    if (threadIdx.x >= 32) return;
    std::uint64_t number = 0;
    if (threadIdx.x == 0) {
        number = *put.put_count + 1;
        const auto sent = static_cast<unsigned>(tiles_sent);
        if (add_acq_rel(put.ticket, sent) + sent != static_cast<unsigned>(put.sending_tiles))
            number = 0;
    }
    number = __shfl_sync(0xffffffffu, number, 0);
    if (number == 0) return;
    if (static_cast<int>(threadIdx.x) < context.all_reduce.ranks &&
        (put.to >> threadIdx.x & 1) != 0)
        store_release(put.sent[threadIdx.x], number);
    if (threadIdx.x == 0) {
        *put.put_count = number;
        *put.ticket = 0;
    }
}

} // namespace krylith::cuda
