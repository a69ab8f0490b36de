// The device side of ghost_put: what a kernel that writes a domain vector adds to its loop.
#pragma once

#include <krylith/vector/execution/kernel_context_cuda.cuh>
#include <krylith/vector/ghosts/ghost_put.hpp>

namespace krylith::cuda {

/// Tells peers that they may send again: all earlier kernels of this stream, and so all readers of
/// the ghosts, are done. Block 0 calls it at the start of its kernel. Usually the product has
/// already told the peers.
template <class T>
__device__ inline void give_credit(const ghost_put<T>& put) {
    if (blockIdx.x != 0 || put.ordered) return;
    const channel_view& channel = put.channel;
    const std::uint64_t put_count = *channel.put_count;
    if (*channel.credited == put_count) return;
    __syncthreads(); // all have read it
    if (static_cast<int>(threadIdx.x) < channel.senders)
        store_release(channel.peer_credits[threadIdx.x], put_count);
    if (threadIdx.x == 0) *channel.credited = put_count;
}

/// Waits for the credits of all receivers. The first warp of a block calls it before its first
/// store to a peer; a barrier must follow.
template <class T>
__device__ inline void await_credits(const compact_context& context, const ghost_put<T>& put) {
    if (put.ordered || static_cast<int>(threadIdx.x) >= put.channel.receivers) return;
    await_count(context.all_reduce, put.channel.credits[threadIdx.x], *put.channel.put_count);
}

/// Calls `store(ghosts)` for each receiver of a dense put.
template <class T, class Store>
__device__ inline void for_receivers(const ghost_put<T>& put, Store store) {
    for (int k = 0; k < put.channel.receivers; ++k) store(put.ghosts[k]);
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
        put.ghosts[entry.receiver][entry.position] = values[entry.row];
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
__device__ inline void send_pack(const ghost_put<T>& put, const pack<T, Count>& entries,
                                 std::int64_t first) {
    const bool whole = first + Count <= put.dense;
    for_receivers(put, [&](T* ghosts) {
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
__device__ inline void signal_put(const ghost_put<T>& put, std::int32_t tiles_sent) {
    const channel_view& channel = put.channel;
    if (put.sending_tiles == 0) { // it sends nothing, but the put is counted
        if (blockIdx.x == 0 && threadIdx.x == 0) *channel.put_count += 1;
        return;
    }
    if (tiles_sent == 0) return;
    __syncthreads();
    if (threadIdx.x >= 32) return;
    std::uint64_t number = 0;
    if (threadIdx.x == 0) {
        number = *channel.put_count + 1;
        const auto sent = static_cast<unsigned>(tiles_sent);
        if (add_acq_rel(channel.ticket, sent) + sent != static_cast<unsigned>(put.sending_tiles))
            number = 0;
    }
    number = __shfl_sync(0xffffffffu, number, 0);
    if (number == 0) return;
    if (static_cast<int>(threadIdx.x) < channel.receivers)
        store_release(channel.signals[threadIdx.x], number);
    if (threadIdx.x == 0) {
        *channel.put_count = number;
        *channel.ticket = 0;
    }
}

} // namespace krylith::cuda
