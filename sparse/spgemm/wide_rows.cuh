// Rows of any number of products, a block a row: a bit for each column, in ranges of columns that
// fit into shared memory. Bits come out sorted.
#pragma once

#include <cstdint>

#include <krylith/sparse/spgemm/referred_columns.cuh>
#include <krylith/sparse/spgemm/row_lists.cuh>

namespace krylith::cuda {

/// The shared memory of wide_rows.
[[nodiscard]] inline std::size_t range_bytes(std::int64_t columns) {
    const std::int64_t range = columns < most_range_columns ? columns : most_range_columns;
    return static_cast<std::size_t>((range + 31) / 32) * sizeof(std::uint32_t);
}

/// The first of entries [begin, end), which ascend, that is at least `column`.
[[nodiscard]] __device__ inline std::int64_t lower_bound_of(const std::int32_t* indices,
                                                            std::int64_t begin, std::int64_t end,
                                                            std::int64_t column) {
    while (begin < end) {
        const std::int64_t middle = (begin + end) / 2;
        if (indices[middle] < column)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

/// Sets the bits of columns [begin, end) of B, which are at least `low`: by a warp.
__device__ inline void mark_range(const std::int32_t* indices, std::int64_t begin, std::int64_t end,
                                  std::int64_t low, std::uint32_t* bits) {
    constexpr int flight = 4;
    for (std::int64_t j = begin + lane_number(); j < end; j += 32 * flight) {
        std::int32_t column[flight];
#pragma unroll
        for (int u = 0; u < flight; ++u) column[u] = j + u * 32 < end ? indices[j + u * 32] : -1;
#pragma unroll
        for (int u = 0; u < flight; ++u) {
            if (column[u] < 0) continue;
            const std::int64_t at = column[u] - low;
            const std::uint32_t bit = 1u << (at % 32);
            // Most bits are set already, and a look is cheaper than an atomic.
            if ((*static_cast<volatile std::uint32_t*>(&bits[at / 32]) & bit) == 0)
                atomicOr(&bits[at / 32], bit);
        }
    }
}

/// Sets the bits of a row's columns, the first of which is that of `low`; `width` lanes load a row
/// of B.
__device__ inline void mark_columns(const csr_pattern& a, const csr_pattern& b, std::int64_t row,
                                    int width, std::int64_t low, std::uint32_t* bits) {
    const auto base = static_cast<std::uint32_t>(low);
    for_columns_of_row(a, b, row, width, [bits, base](std::uint32_t column) {
        if (column == no_key) return true;
        const std::uint32_t at = column - base;
        const std::uint32_t bit = 1u << (at % 32);
        // Most bits are set already, and a look is cheaper than an atomic.
        if ((*static_cast<volatile std::uint32_t*>(&bits[at / 32]) & bit) == 0)
            atomicOr(&bits[at / 32], bit);
        return true;
    });
}

/// The same of columns in [low, high) only, which the lanes of a warp look up in 32 rows of B.
__device__ inline void mark_columns_between(const csr_pattern& a, const csr_pattern& b,
                                            std::int64_t row, std::int64_t low, std::int64_t high,
                                            std::uint32_t* bits) {
    const std::int64_t end = a.offsets[row + 1];
    for (std::int64_t first = a.offsets[row] + threadIdx.x / 32 * 32; first < end;
         first += block_threads) {
        std::int64_t from = 0;
        std::int64_t to = 0;
        if (const std::int64_t k = first + lane_number(); k < end) {
            from = b.offsets[a.indices[k]];
            to = b.offsets[a.indices[k] + 1];
            from = lower_bound_of(b.indices, from, to, low);
            to = lower_bound_of(b.indices, from, to, high);
        }
        for (unsigned left = __ballot_sync(all_lanes, from < to); left != 0; left &= left - 1) {
            const int of = __ffs(static_cast<int>(left)) - 1;
            mark_range(b.indices, __shfl_sync(all_lanes, from, of), __shfl_sync(all_lanes, to, of),
                       low, bits);
        }
    }
}

/// Writes the columns of a word of bits of each thread, in the order of threads, and returns how
/// many there are in the block. The whole block calls it.
__device__ inline int write_bits(std::uint32_t bits, std::int64_t first, std::int32_t* to,
                                 int (&warp_sums)[block_warps]) {
    const int own = __popc(bits);
    const int so_far = warp_running_sum(own);
    if (lane_number() == 31) warp_sums[threadIdx.x / 32] = so_far;
    __syncthreads();
    int before = so_far - own;
    int total = 0;
    for (int w = 0; w < block_warps; ++w) {
        if (w < static_cast<int>(threadIdx.x / 32)) before += warp_sums[w];
        total += warp_sums[w];
    }
    for (to += before; bits != 0; bits &= bits - 1)
        *to++ = static_cast<std::int32_t>(first + __ffs(static_cast<int>(bits)) - 1);
    __syncthreads();
    return total;
}

/// Counts the columns of rows of C (to `counts`), or writes the columns of C from offsets[row] on.
/// Blocks take rows as they get ready: `next` is 0 before.
template <bool Write>
__global__ void __launch_bounds__(block_threads)
    wide_rows(const __grid_constant__ csr_pattern a, const __grid_constant__ csr_pattern b,
              const joined_lists lists, int width, std::int32_t* counts,
              const std::int64_t* offsets, std::int32_t* columns, unsigned* next) {
    extern __shared__ __align__(16) std::uint32_t bits[];
    __shared__ unsigned taken;
    __shared__ int warp_sums[block_warps];
    const std::int64_t all = lists.count();
    for (;;) {
        __syncthreads();
        if (threadIdx.x == 0) taken = atomicAdd(next, 1u);
        __syncthreads();
        if (taken >= all) return;
        const std::int64_t row = lists.row(taken);
        std::int64_t found = 0;
        for (std::int64_t low = 0; low < b.columns; low += most_range_columns) {
            const std::int64_t high = min(b.columns, low + most_range_columns);
            const auto words = static_cast<int>((high - low + 31) / 32);
            for (int i = static_cast<int>(threadIdx.x); i < words; i += block_threads) bits[i] = 0;
            __syncthreads();
            if (high - low == b.columns)
                mark_columns(a, b, row, width, 0, bits);
            else
                mark_columns_between(a, b, row, low, high, bits);
            __syncthreads();
            if constexpr (!Write) {
                int here = 0;
                for (int i = static_cast<int>(threadIdx.x); i < words; i += block_threads)
                    here += __popc(bits[i]);
                found += block_sum_for_all(here, warp_sums);
            } else {
                for (int first = 0; first < words; first += block_threads) {
                    const int i = first + static_cast<int>(threadIdx.x);
                    found += write_bits(i < words ? bits[i] : 0, low + std::int64_t{i} * 32,
                                        columns + offsets[row] + found, warp_sums);
                }
            }
        }
        if (!Write && threadIdx.x == 0) counts[row] = static_cast<std::int32_t>(found);
    }
}

} // namespace krylith::cuda
