// What the product kernels of every format share: waiting for ghosts, writing a row, ending.
#pragma once

#include <type_traits>

#include <krylith/sparse/device_matrix.hpp>
#include <krylith/vector/scalar/kernel_context_cuda.cuh>

namespace krylith::cuda {

/// Matrix entries are read once: they should not push x out of the caches.
template <class V>
__device__ inline V load_once(const V* from) {
    return __ldcs(from);
}

// Kernels have a form of their own, Pieces, for blocks of nonzero_split_operator.hpp (push.targets,
// partials): looking for these in every row would cost the others registers that they don't have.

/// Whether the product needs that form.
template <class T>
[[nodiscard]] bool is_in_pieces(const spmv_operands<T>& a) {
    return a.partials.marks != nullptr || a.push.targets != nullptr;
}

/// Whether rows of the boundary wait for peers at all.
template <bool Pieces = false, class T>
__device__ inline bool awaits_peers(const spmv_operands<T>& a) {
    if constexpr (Pieces) return (a.ghosts.from | a.partials.arrived.from) != 0;
    return a.ghosts.from != 0;
}

/// Blocks until all ghosts, and the peers' partial sums, are there; called by the whole block
/// before its first boundary row.
template <bool Pieces = false, class T>
__device__ inline void wait_for_ghosts(const compact_frame& f, const spmv_operands<T>& a) {
    const int lane = static_cast<int>(threadIdx.x);
    const auto wait_for = [&](const arrival& data) {
        if (lane >= f.ranks || (data.from >> lane & 1) == 0) return;
        const std::uint64_t expected = *data.expected;
        wait_until(f.mail, lane, [&] { return load_acquire(data.sent + lane) >= expected; });
    };
    wait_for(a.ghosts);
    if constexpr (Pieces) wait_for(a.partials.arrived);
    __syncthreads();
}

/// At the start, by block 0: peers may send their next result, since every earlier kernel of this
/// stream, and so every reader of the last one, is done.
template <class T>
__device__ inline void allow_next_result(const compact_frame& f, const spmv_operands<T>& a) {
    if (blockIdx.x != 0 || a.push.to == 0 || a.push.ordered || a.push.readies == nullptr) return;
    if (static_cast<int>(threadIdx.x) < f.ranks && (a.push.to >> threadIdx.x & 1) != 0)
        store_release(a.push.readies[threadIdx.x], *a.push.pushed + 1);
}

/// By the whole block before its first store to a peer.
template <class T>
__device__ inline void wait_for_receivers(const compact_frame& f, const spmv_operands<T>& a) {
    if (a.push.to == 0 || a.push.ordered) return;
    const int lane = static_cast<int>(threadIdx.x);
    if (lane < f.ranks && (a.push.to >> lane & 1) != 0) {
        const std::uint64_t wanted = *a.push.pushed + 1;
        wait_until(f.mail, lane, [&] { return load_acquire(a.push.ready + lane) >= wanted; });
    }
    __syncthreads();
}

/// y[row] to the peers if it is `sent`, and into the dot products if it is `counted`.
template <int Dots, class T>
__device__ inline void pass_on(const compact_frame& f, const spmv_operands<T>& a, std::int64_t row,
                               T y, double (&dots)[Dots == 0 ? 1 : Dots], bool sent = true,
                               bool counted = true) {
    if (sent && a.push.to != 0)
        for (int r = 0; r < f.ranks; ++r)
            if ((a.push.to >> r & 1) != 0) a.push.copies[r][row] = y;
    if (!counted) return;
#pragma unroll
    for (int d = 0; d < Dots; ++d) {
        const T other = a.dot_with[d] != nullptr ? a.dot_with[d][row] : y;
        dots[d] += static_cast<double>(y) * static_cast<double>(other);
    }
}

/// y[row] from the sum of the block's row.
template <int Dots, bool Pieces = false, class T>
__device__ inline void write_row(const compact_frame& f, const spmv_operands<T>& a,
                                 std::int64_t row, T sum, double (&dots)[Dots == 0 ? 1 : Dots]) {
    if constexpr (Pieces && Dots == 0) {
        if (a.push.targets != nullptr) {
            *a.push.targets[row] = a.alpha * sum;
            return;
        }
    }
    if constexpr (Pieces)
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
    pass_on<Dots>(f, a, row, y, dots, sent, counted);
}

/// By the last block: tells peers what was sent and what was read. What was sent is ordered by
/// cumulativity: barrier, the blocks' counter, release at system scope.
template <bool Pieces = false, class T>
__device__ inline void tell_peers(const compact_frame& f, const spmv_operands<T>& a) {
    if (threadIdx.x >= 32) return;
    const int lane = static_cast<int>(threadIdx.x);
    if (a.push.to != 0) {
        const std::uint64_t number = *a.push.pushed + 1;
        __syncwarp();
        if (lane < f.ranks && (a.push.to >> lane & 1) != 0)
            store_release(a.push.sent[lane], number);
        if (lane == 0) *a.push.pushed = number;
    }
    if (a.acknowledge.to != 0) {
        const std::uint64_t number = *a.acknowledge.pushed;
        if (lane < f.ranks && (a.acknowledge.to >> lane & 1) != 0)
            store_release(a.acknowledge.readies[lane], number);
        if (lane == 0) *a.acknowledge.acknowledged = number;
    }
    if constexpr (Pieces) {
        if (a.partials.arrived.from == 0) return;
        const std::uint64_t number = *a.partials.next + 1;
        __syncwarp();
        if (lane < f.ranks && (a.partials.arrived.from >> lane & 1) != 0)
            store_release(a.partials.readies[lane], number);
        if (lane == 0) *a.partials.next = number;
    }
}

/// Ends the kernel: dot products, and telling peers.
template <int Dots, bool Pieces = false, class T>
__device__ inline void finish(const compact_frame& f, const spmv_operands<T>& a,
                              const double (&dots)[Dots == 0 ? 1 : Dots]) {
    bool last = false;
    if constexpr (Dots > 0) {
        last = reduce_and_post(f, a.reduce, dots);
    } else {
        const std::uint32_t told = a.push.to | a.acknowledge.to;
        if ((Pieces ? told | a.partials.arrived.from : told) == 0) return;
        last = last_block(f.mail.arrivals);
        if (last && threadIdx.x == 0) *f.mail.arrivals = 0;
    }
    if (last) tell_peers<Pieces>(f, a);
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

/// The same with a second constant: whether the product is in pieces.
template <class T, class Launch>
void dispatch_product(const spmv_operands<T>& a, Launch launch) {
    dispatch_dots(a, [&](auto dots) {
        if (is_in_pieces(a)) return launch(dots, std::true_type{});
        launch(dots, std::false_type{});
    });
}

} // namespace krylith::cuda
