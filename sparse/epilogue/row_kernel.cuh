// The parts that the product kernels of all formats have: waiting for ghosts, writing a row, the
// epilogue.
#pragma once

#include <type_traits>

#include <krylith/sparse/device_matrix.hpp>
#include <krylith/vector/scalar/kernel_context_cuda.cuh>

namespace krylith::cuda {

/// Loads a matrix entry. Entries are read once and should not push x out of the caches.
template <class V>
__device__ inline V load_once(const V* from) {
    return __ldcs(from);
}

// Kernels have a form of their own, `Split`, for blocks of nonzero_split_operator.hpp (put.targets,
// partials): tests for these in every row would cost the other products registers that they don't
// have.

/// Whether the product needs that form.
template <class T>
[[nodiscard]] bool is_nonzero_split(const spmv_operands<T>& a) {
    return a.partials.marks != nullptr || a.put.targets != nullptr;
}

/// Whether rows of the boundary wait for peers.
template <bool Split = false, class T>
__device__ inline bool awaits_peers(const spmv_operands<T>& a) {
    if constexpr (Split) return (a.ghosts.from | a.partials.arrived.from) != 0;
    return a.ghosts.from != 0;
}

/// Waits until all ghosts and the peers' partial sums are there; the whole block calls it before
/// its first boundary row.
template <bool Split = false, class T>
__device__ inline void wait_for_ghosts(const compact_context& context, const spmv_operands<T>& a) {
    const int lane = static_cast<int>(threadIdx.x);
    const auto wait_for = [&](const signal& data) {
        if (lane >= context.ranks || (data.from >> lane & 1) == 0) return;
        const std::uint64_t expected = *data.expected;
        wait_until(context.all_reduce, lane,
                   [&] { return load_acquire(data.sent + lane) >= expected; });
    };
    wait_for(a.ghosts);
    if constexpr (Split) wait_for(a.partials.arrived);
    __syncthreads();
}

/// Gives credit for the next results of peers, since every earlier kernel of this stream, and so
/// every reader of the last results, is done. Block 0 calls it at the start of its kernel.
template <class T>
__device__ inline void give_result_credit(const compact_context& context,
                                          const spmv_operands<T>& a) {
    if (blockIdx.x != 0 || a.put.to == 0 || a.put.ordered || a.put.peer_credits == nullptr) return;
    if (static_cast<int>(threadIdx.x) < context.ranks && (a.put.to >> threadIdx.x & 1) != 0)
        store_release(a.put.peer_credits[threadIdx.x], *a.put.put_count + 1);
}

/// Waits for the credits of the receivers; the whole block calls it before its first store to a
/// peer.
template <class T>
__device__ inline void wait_for_receivers(const compact_context& context,
                                          const spmv_operands<T>& a) {
    if (a.put.to == 0 || a.put.ordered) return;
    const int lane = static_cast<int>(threadIdx.x);
    if (lane < context.ranks && (a.put.to >> lane & 1) != 0) {
        const std::uint64_t wanted = *a.put.put_count + 1;
        wait_until(context.all_reduce, lane,
                   [&] { return load_acquire(a.put.credits + lane) >= wanted; });
    }
    __syncthreads();
}

/// Sends y[row] to the peers if it is `sent`, and adds it to the dot products if it is `counted`.
template <int Dots, class T>
__device__ inline void pass_on(const compact_context& context, const spmv_operands<T>& a,
                               std::int64_t row, T y, double (&dots)[Dots == 0 ? 1 : Dots],
                               bool sent = true, bool counted = true) {
    if (sent && a.put.to != 0)
        for (int r = 0; r < context.ranks; ++r)
            if ((a.put.to >> r & 1) != 0) a.put.copies[r][row] = y;
    if (!counted) return;
#pragma unroll
    for (int d = 0; d < Dots; ++d) {
        const T other = a.dot_with[d] != nullptr ? a.dot_with[d][row] : y;
        dots[d] += static_cast<double>(y) * static_cast<double>(other);
    }
}

/// Writes y[row] from the sum of the block's row.
template <int Dots, bool Split = false, class T>
__device__ inline void write_row(const compact_context& context, const spmv_operands<T>& a,
                                 std::int64_t row, T sum, double (&dots)[Dots == 0 ? 1 : Dots]) {
    if constexpr (Split && Dots == 0) {
        if (a.put.targets != nullptr) {
            *a.put.targets[row] = a.alpha * sum;
            return;
        }
    }
    if constexpr (Split)
        if (a.partials.marks != nullptr) sum = a.partials.add_to(sum, row);
    bool sent = true;
    bool counted = true;
    if (a.map.count != 0) {
        sent = row < a.map.alone;
        row = a.map.at(row);
        if (row >= a.map.rows) return;
        counted = sent || (row >= a.map.counted_begin && row < a.map.counted_end);
    }
    T y = a.alpha * sum;
    if (a.beta != T(0)) y += a.beta * a.y[row];
    a.y[row] = y;
    pass_on<Dots>(context, a, row, y, dots, sent, counted);
}

/// Signals what was sent and gives credit for what was read; the last block calls it. The order of
/// what was sent is by cumulativity: barrier, the counter of blocks, release at system scope.
template <bool Split = false, class T>
__device__ inline void tell_peers(const compact_context& context, const spmv_operands<T>& a) {
    if (threadIdx.x >= 32) return;
    const int lane = static_cast<int>(threadIdx.x);
    if (a.put.to != 0) {
        const std::uint64_t number = *a.put.put_count + 1;
        __syncwarp();
        if (lane < context.ranks && (a.put.to >> lane & 1) != 0)
            store_release(a.put.sent[lane], number);
        if (lane == 0) *a.put.put_count = number;
    }
    if (a.credit.to != 0) {
        const std::uint64_t number = *a.credit.put_count;
        if (lane < context.ranks && (a.credit.to >> lane & 1) != 0)
            store_release(a.credit.peer_credits[lane], number);
        if (lane == 0) *a.credit.credited = number;
    }
    if constexpr (Split) {
        if (a.partials.arrived.from == 0) return;
        const std::uint64_t number = *a.partials.next + 1;
        __syncwarp();
        if (lane < context.ranks && (a.partials.arrived.from >> lane & 1) != 0)
            store_release(a.partials.peer_credits[lane], number);
        if (lane == 0) *a.partials.next = number;
    }
}

/// Ends the kernel: posts dot products and tells peers.
template <int Dots, bool Split = false, class T>
__device__ inline void kernel_epilogue(const compact_context& context, const spmv_operands<T>& a,
                                       const double (&dots)[Dots == 0 ? 1 : Dots]) {
    bool last = false;
    if constexpr (Dots > 0) {
        last = reduce_and_post(context, a.reduce, dots);
    } else {
        const std::uint32_t told = a.put.to | a.credit.to;
        if ((Split ? told | a.partials.arrived.from : told) == 0) return;
        last = last_block(context.all_reduce.signals);
        if (last && threadIdx.x == 0) *context.all_reduce.signals = 0;
    }
    if (last) tell_peers<Split>(context, a);
}

/// Calls `kernel.template operator()<Dots>()` for the number of dot products of the product.
template <class T, class Launch>
void dispatch_dots(const spmv_operands<T>& a, Launch launch) {
    switch (a.reduce.count) {
    case 0: return launch(std::integral_constant<int, 0>{});
    case 1: return launch(std::integral_constant<int, 1>{});
    default: return launch(std::integral_constant<int, 2>{});
    }
}

/// Does the same with a second constant: whether the product needs the form `Split`.
template <class T, class Launch>
void dispatch_product(const spmv_operands<T>& a, Launch launch) {
    dispatch_dots(a, [&](auto dots) {
        if (is_nonzero_split(a)) return launch(dots, std::true_type{});
        launch(dots, std::false_type{});
    });
}

} // namespace krylith::cuda
