// The symbolic phase for rows of many products whose columns lie among many, but near each other, a
// block a row: a bit for each column from the first to the last, which come out sorted. Rows that
// span more columns are left to blocked_rows.
#pragma once

#include <cstdint>

#include <krylith/sparse/spgemm/column_pool.cuh>
#include <krylith/sparse/spgemm/column_tables.cuh>
#include <krylith/sparse/spgemm/wide_rows.cuh>

namespace krylith::cuda {

inline constexpr std::int64_t most_spanned_columns = std::int64_t{1} << 17; ///< 16 KB of bits

/// The first and the last column of a row of C, the same in all threads. Columns of rows of B
/// ascend. The whole block calls it, between barriers; none: the first is no_key.
__device__ inline void find_span(const csr_pattern& a, const csr_pattern& b, std::int64_t row,
                                 std::uint32_t (&ends)[2], std::uint32_t& first,
                                 std::uint32_t& last) {
    if (threadIdx.x == 0) {
        ends[0] = no_key;
        ends[1] = 0;
    }
    __syncthreads();
    std::uint32_t low = no_key;
    std::uint32_t high = 0;
    const std::int64_t end = a.offsets[row + 1];
    for (std::int64_t k = a.offsets[row] + threadIdx.x; k < end; k += block_threads) {
        const std::int32_t from = a.indices[k];
        const std::int64_t begin_of_b = b.offsets[from];
        const std::int64_t end_of_b = b.offsets[from + 1];
        if (begin_of_b == end_of_b) continue;
        low = min(low, static_cast<std::uint32_t>(b.indices[begin_of_b]));
        high = max(high, static_cast<std::uint32_t>(b.indices[end_of_b - 1]));
    }
    low = __reduce_min_sync(all_lanes, low);
    high = __reduce_max_sync(all_lanes, high);
    if (lane_number() == 0 && low != no_key) {
        atomicMin(&ends[0], low);
        atomicMax(&ends[1], high);
    }
    __syncthreads();
    first = ends[0];
    last = ends[1];
}

/// Counts the columns of rows, and keeps them where the pool has room.
__global__ void __launch_bounds__(block_threads)
    ranged_rows(const __grid_constant__ csr_pattern a, const __grid_constant__ csr_pattern b,
                const joined_lists lists, int width, std::int32_t* counts, const column_pool pool,
                const overflow_list overflow) {
    __shared__ std::uint32_t bits[most_spanned_columns / 32];
    __shared__ std::uint32_t ends[2];
    __shared__ int warp_sums[block_warps];
    __shared__ unsigned long long place;
    const std::int64_t all = lists.count();
    for (std::int64_t item = blockIdx.x; item < all; item += gridDim.x) {
        const std::int64_t row = lists.row(item);
        std::uint32_t first = 0;
        std::uint32_t last = 0;
        find_span(a, b, row, ends, first, last);
        const std::int64_t low = first == no_key ? 0 : first / 32 * 32;
        const std::int64_t span = first == no_key ? 0 : std::int64_t{last} + 1 - low;
        if (span > most_spanned_columns) {
            if (threadIdx.x == 0) overflow.add(row);
            __syncthreads();
            continue;
        }
        const auto words = static_cast<int>((span + 31) / 32);
        for (int i = static_cast<int>(threadIdx.x); i < words; i += block_threads) bits[i] = 0;
        __syncthreads();
        mark_columns(a, b, row, width, low, bits);
        __syncthreads();
        int sum = 0;
        for (int i = static_cast<int>(threadIdx.x); i < words; i += block_threads)
            sum += __popc(bits[i]);
        sum = block_sum_for_all(sum, warp_sums);
        if (threadIdx.x == 0) {
            counts[row] = sum;
            place = pool.take(row, sum);
        }
        __syncthreads();
        if (place == pool.capacity) continue;
        std::int32_t* to = pool.columns + place;
        for (int from = 0; from < words; from += block_threads) {
            const int i = from + static_cast<int>(threadIdx.x);
            to += write_bits(i < words ? bits[i] : 0, low + std::int64_t{i} * 32, to, warp_sums);
        }
    }
}

} // namespace krylith::cuda
