// The prologue of a product kernel: the kernel context, and early rows.
#pragma once

#include <cstdint>

#include <krylith/device/cuda/warp.cuh>
#include <krylith/sparse/device_matrix.hpp>
#include <krylith/vector/execution/kernel_context_cuda.cuh>

namespace krylith::cuda {

/// Multiplies early rows and sends the results; one warp calls it. Sums have the bits of the format
/// csr, by which the same rows have a kernel of their own outside recorded loops. It is a function
/// of its own, so that its registers don't add to those of the kernel.
template <class T>
__device__ __noinline__ void send_early_rows(const compact_context& context,
                                             const spmv_operands<T>& a) {
    const early_rows<T>& early = a.early;
    const channel_view& channel = early.channel;
    const int lane = lane_number();
    const std::uint64_t number = *channel.put_count + 1;
    if (lane < early.ghosts.senders)
        await_count(context.all_reduce, early.ghosts.sent[lane], *early.ghosts.expected);
    if (lane < channel.receivers) await_count(context.all_reduce, channel.credits[lane], number);
    __syncwarp();
    for (std::int32_t row = 0; row < early.count; ++row) {
        const auto begin = static_cast<int>(early.matrix.begin(row));
        const auto end = static_cast<int>(early.matrix.begin(row + 1));
        T sum = 0;
        for (int first = begin; first < end; first += 32) {
            const int k = first + lane;
            const T product =
                k < end ? early.matrix.values[k] * a.x[early.matrix.columns[k]] : T(0);
            const int count = min(32, end - first);
            for (int of = 0; of < count; ++of) sum += __shfl_sync(all_lanes, product, of);
        }
        if (lane == 0) *early.targets[row] = sum;
    }
    __syncwarp();
    if (lane < channel.receivers) store_release(channel.signals[lane], number);
    if (lane == 0) *channel.put_count = number;
}

/// Returns what kernel_prologue() returns. The last block, which has the least to do, sends early
/// rows before its own ones.
template <bool Shared, class T, class Meanwhile>
__device__ inline bool product_prologue(const compact_context& parameter, context_state& s,
                                        const spmv_operands<T>& a, Meanwhile meanwhile) {
    if (threadIdx.x < 32) {
        prologue_warp(parameter, s, nullptr);
        if (Shared && a.early.count != 0 && blockIdx.x == gridDim.x - 1) {
            __syncwarp();
            if (s.go != 0) send_early_rows(s.context, a);
        }
    }
    meanwhile();
    __syncthreads();
    return s.go != 0;
}
template <bool Shared, class T>
__device__ inline bool product_prologue(const compact_context& parameter, context_state& s,
                                        const spmv_operands<T>& a) {
    return product_prologue<Shared>(parameter, s, a, [] {});
}

} // namespace krylith::cuda
