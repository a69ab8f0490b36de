// Signals and credits of a product kernel: what it waits for, and what it tells its peers.
// row_epilogue calls them; formats don't.
#pragma once

#include <cstdint>

#include <krylith/sparse/device_matrix.hpp>
#include <krylith/vector/execution/kernel_context_cuda.cuh>

namespace krylith::cuda {

/// Waits until what peers send is there; the whole block calls it before it reads that.
__device__ inline void wait_for(const compact_context& context, const put_signal& data) {
    const int lane = static_cast<int>(threadIdx.x);
    if (lane < data.senders) await_count(context.all_reduce, data.sent[lane], *data.expected);
    __syncthreads();
}

/// Gives credit for the next results of peers, since every earlier kernel of this stream, and so
/// every reader of the last results, is done. Block 0 calls it at the start of its kernel.
template <class T>
__device__ inline void give_result_credit(const spmv_operands<T>& a) {
    const channel_view& channel = a.put.channel;
    if (blockIdx.x != 0 || a.put.ordered || channel.peer_credits == nullptr) return;
    if (static_cast<int>(threadIdx.x) < channel.senders)
        store_release(channel.peer_credits[threadIdx.x], *channel.put_count + 1);
}

/// Waits for the credits of the receivers; the whole block calls it before its first store to a
/// peer.
template <class T>
__device__ inline void wait_for_receivers(const compact_context& context,
                                          const spmv_operands<T>& a) {
    const channel_view& channel = a.put.channel;
    if (channel.receivers == 0 || a.put.ordered) return;
    const int lane = static_cast<int>(threadIdx.x);
    if (lane < channel.receivers)
        await_count(context.all_reduce, channel.credits[lane], *channel.put_count + 1);
    __syncthreads();
}

/// Whether any peer waits for the end of this product.
template <bool Shared, class T>
__device__ inline bool tells_peers(const spmv_operands<T>& a) {
    const std::int32_t told = a.put.channel.receivers | a.credit.senders;
    return (Shared ? told | a.partials.arrived.senders : told) != 0;
}

/// Signals what was sent and gives credit for what was read; the last block calls it. The order of
/// what was sent is by cumulativity: barrier, the counter of blocks, release at system scope.
template <bool Shared, class T>
__device__ inline void tell_peers(const spmv_operands<T>& a) {
    if (threadIdx.x >= 32) return;
    const int lane = static_cast<int>(threadIdx.x);
    const channel_view& channel = a.put.channel;
    if (channel.receivers != 0) {
        const std::uint64_t number = *channel.put_count + 1;
        __syncwarp();
        if (lane < channel.receivers) store_release(channel.signals[lane], number);
        if (lane == 0) *channel.put_count = number;
    }
    if (a.credit.senders != 0) {
        const std::uint64_t number = *a.credit.put_count;
        if (lane < a.credit.senders) store_release(a.credit.peer_credits[lane], number);
        if (lane == 0) *a.credit.credited = number;
    }
    if constexpr (Shared) {
        if (a.partials.arrived.senders == 0) return;
        const std::uint64_t number = *a.partials.next + 1;
        __syncwarp();
        if (lane < a.partials.arrived.senders) store_release(a.partials.peer_credits[lane], number);
        if (lane == 0) *a.partials.next = number;
    }
}

} // namespace krylith::cuda
