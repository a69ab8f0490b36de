// Column kernels that add atomically: into y.dense alone, or into y's clean dense and bits with a
// list of the rows that they touch first.
//
// Bytes (fp32) for a term: 8 of A, in cache lines of its column (4 where the semiring reads no
// values); an atomic on y.dense and a load of a word of y.bits, a sector each from the second-level
// cache or memory. For a row touched: an atomic on bits and 4 bytes for the list, later 4 + 4 + a
// sector to gather its value. For dense alone 4 m (8 m with beta) before. Launches with pairs:
// direct 3 (count to 0, kernel, gather), balanced 3 or 4 (scan 1 or 2, kernel, gather), and before
// them one that cleans what y held; 2 to 4 us each where there is little to do. Trips to memory of
// the kernel: count, index, offsets, row, word of bits, atomic; balanced 2 to 7 more to find a
// tile.
#pragma once

#include <bit>
#include <type_traits>

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/spmspv/kernels/column_scratch.hpp>
#include <krylith/spmspv/kernels/column_tiles.cuh>
#include <krylith/spmspv/kernels/dense_start.cuh>
#include <krylith/spmspv/kernels/vector_conversion.hpp>

namespace krylith::cuda {

// These functions compute y = y + term, by semiring.

/// For any semiring: by comparing and exchanging bits until no other thread was faster.
template <class S, class T>
__device__ inline void add_atomically(S, T* y, T term) {
    using word = std::conditional_t<sizeof(T) == 8, unsigned long long, unsigned>;
    auto* const there = reinterpret_cast<word*>(y);
    word before = *there;
    for (;;) {
        const T sum = S::add(std::bit_cast<T>(before), term);
        const word after = std::bit_cast<word>(sum);
        if (after == before) return;
        const word found = atomicCAS(there, before, after);
        if (found == before) return;
        before = found;
    }
}

template <class T>
__device__ inline void add_atomically(spmspv::plus_times<T>, T* y, T term) {
    atomicAdd(y, term);
}
template <class T>
__device__ inline void add_atomically(spmspv::plus_second<T>, T* y, T term) {
    atomicAdd(y, term);
}
/// Every value that is stored is the same.
template <class T>
__device__ inline void add_atomically(spmspv::or_and<T>, T* y, T) {
    *y = T(1);
}
template <class T>
__device__ inline void add_atomically(spmspv::min_plus<T>, T* y, T term) {
    if (term != term) return; // as add() does with NaN
    if (spmspv::lowers_by_signed_minimum(term))
        atomicMin(reinterpret_cast<spmspv::signed_bits<T>*>(y),
                  std::bit_cast<spmspv::signed_bits<T>>(term));
    else
        atomicMax(reinterpret_cast<spmspv::unsigned_bits<T>*>(y),
                  std::bit_cast<spmspv::unsigned_bits<T>>(term));
}
__device__ inline void add_atomically(spmspv::min_column, std::int32_t* y, std::int32_t term) {
    atomicMin(y, term);
}

/// The rows that a warp is the first to touch, collected before they go into the list of all. Whole
/// warps call its functions.
class touched_list {
public:
    static constexpr int room = 128; ///< rows a warp, in shared memory

    __device__ touched_list(std::int32_t* slots, std::int32_t* indices, std::int32_t* count)
        : slots_(slots), indices_(indices), count_(count) {}

    __device__ void add(bool is_new, std::int32_t row) {
        const unsigned which = __ballot_sync(0xffffffffu, is_new);
        if (which == 0) return;
        const unsigned lane = threadIdx.x & 31;
        if (is_new) slots_[held_ + __popc(which & ((1u << lane) - 1))] = row;
        held_ += __popc(which);
        if (held_ > room - 32) flush();
    }
    __device__ void flush() {
        if (held_ == 0) return;
        __syncwarp();
        const int lane = static_cast<int>(threadIdx.x & 31);
        std::int32_t first = 0;
        if (lane == 0) first = atomicAdd(count_, held_);
        first = __shfl_sync(0xffffffffu, first, 0);
        for (int i = lane; i < held_; i += 32) indices_[first + i] = slots_[i];
        held_ = 0;
        __syncwarp();
    }

private:
    std::int32_t* slots_;
    std::int32_t* indices_;
    std::int32_t* count_;
    int held_ = 0;
};

template <class S, bool Listed>
struct adding_sink {
    using T = typename S::value_type;
    T* dense;
    std::uint32_t* bits;
    const std::uint32_t* skip_rows;
    touched_list list;

    __device__ void take(bool (&there)[terms_at_once], const std::uint32_t (&)[terms_at_once],
                         const std::int32_t (&row)[terms_at_once], const T (&term)[terms_at_once]) {
        if (skip_rows != nullptr) {
            std::uint32_t skipped[terms_at_once];
#pragma unroll
            for (int u = 0; u < terms_at_once; ++u)
                skipped[u] = there[u] ? skip_rows[word_of(row[u])] : 0;
#pragma unroll
            for (int u = 0; u < terms_at_once; ++u)
                there[u] = there[u] && (skipped[u] & bit_of(row[u])) == 0;
        }
        [[maybe_unused]] std::uint32_t word[terms_at_once];
        if constexpr (Listed) {
            // Loads are from the second-level cache, where atomics are: they see rows touched
            // meanwhile, and rows hit again and again cost no atomic. All loads, and then all
            // atomics, are in flight before the first is waited for.
#pragma unroll
            for (int u = 0; u < terms_at_once; ++u)
                word[u] = there[u] ? __ldcg(bits + word_of(row[u])) : ~0u;
#pragma unroll
            for (int u = 0; u < terms_at_once; ++u)
                if ((word[u] & bit_of(row[u])) == 0)
                    word[u] = atomicOr(bits + word_of(row[u]), bit_of(row[u]));
        }
#pragma unroll
        for (int u = 0; u < terms_at_once; ++u)
            if (there[u]) add_atomically(S{}, dense + row[u], term[u]);
        if constexpr (Listed) {
#pragma unroll
            for (int u = 0; u < terms_at_once; ++u)
                list.add((word[u] & bit_of(row[u])) == 0, row[u]);
        }
    }
    __device__ void finish() {
        if constexpr (Listed) list.flush();
    }

    // Numbers are unsigned: division of signed numbers takes more instructions.
    [[nodiscard]] __device__ static std::uint32_t word_of(std::int32_t row) {
        return static_cast<std::uint32_t>(row) / 32;
    }
    [[nodiscard]] __device__ static std::uint32_t bit_of(std::int32_t row) {
        return 1u << static_cast<std::uint32_t>(row) % 32;
    }
};

template <class S, bool Listed, bool Balanced>
__global__ void __launch_bounds__(block_threads, 5)
    adding_kernel(const __grid_constant__ scatter_operands<S> a,
                  const __grid_constant__ spmspv::vector_arrays<typename S::value_type> y,
                  const std::uint32_t* skip_rows, std::uint32_t lanes) {
    __shared__ std::int32_t slots[Listed ? block_warps * touched_list::room : 1];
    std::int32_t* const mine = slots + (Listed ? threadIdx.x / 32 * touched_list::room : 0);
    adding_sink<S, Listed> sink{y.dense, y.bits, skip_rows, {mine, y.indices, y.count}};
    if constexpr (Balanced) {
        __shared__ tile_shared<typename S::value_type> s;
        for_terms_balanced(a, s, sink);
    } else {
        for_terms_direct(a, lanes, sink);
    }
}

template <class S, bool Listed, bool Balanced>
void launch_adding(device& device, const plain_arguments<S>& a,
                   const scatter_operands<S>& operands) {
    const launch_scope launch(device);
    const auto kernel = adding_kernel<S, Listed, Balanced>;
    const column_grid size = column_grid_of(a, Balanced);
    kernel<<<launch.blocks(kernel, block_threads, size.blocks), block_threads, 0,
             launch.stream()>>>(operands, a.y, a.skip_rows, size.lanes);
    launch.check_launch();
}

template <class S, bool Balanced>
void multiply_columns_atomic(device& device, const plain_arguments<S>& a) {
    using T = typename S::value_type;
    const auto scratch = column_scratch<T>::in(a.scratch,
                                               Balanced ? spmspv::kernel::column_balanced_atomic
                                                        : spmspv::kernel::column_atomic,
                                               a.entries, a.frontier_nonzeros);
    if (!a.pairs) prepare_dense<S>(device, a);
    if constexpr (Balanced)
        scan_columns(device,
                     {a.columns.offsets,
                      a.x.indices,
                      a.x.count,
                      scratch.ends,
                      scratch.starts,
                      {a.pairs ? a.y.count : nullptr, nullptr}},
                     a.entries, scratch.scan);
    else if (a.pairs)
        device.zero(a.y.count, sizeof(std::int32_t));
    const scatter_operands<S> operands{a.columns.offsets, a.columns.indices, a.columns.values,
                                       a.x.indices,       a.x.values,        a.x.count,
                                       a.alpha,           scratch.ends,      scratch.starts};
    if (!a.pairs) return launch_adding<S, false, Balanced>(device, a, operands);
    launch_adding<S, true, Balanced>(device, a, operands);
    gather_values(device, a.y);
}

} // namespace krylith::cuda
