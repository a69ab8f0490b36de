// Rows of many products whose columns lie among many and far from each other, a block a row: a hash
// table of 2048 blocks of 32 columns with a bit for each. What has more blocks is left to
// wide_rows.
#pragma once

#include <cstdint>

#include <krylith/sparse/spgemm/column_pool.cuh>
#include <krylith/sparse/spgemm/column_tables.cuh>
#include <krylith/sparse/spgemm/referred_columns.cuh>
#include <krylith/sparse/spgemm/wide_rows.cuh>

namespace krylith::cuda {

/// Up to so many columns of C, wide_rows is faster: its bits are 16 KB at most.
inline constexpr std::int64_t least_blocked_columns = (std::int64_t{1} << 17) + 1;

struct blocked_row_memory {
    static constexpr int size = 2048;
    static constexpr int most = 1536; ///< the warps add up to 32 each before they look
    std::uint32_t keys[size];         ///< numbers of blocks
    std::uint32_t bits[size];
    unsigned blocks;

    __device__ void clear() {
        for (int i = static_cast<int>(threadIdx.x); i < size; i += block_threads) {
            keys[i] = no_key;
            bits[i] = 0;
        }
        if (threadIdx.x == 0) blocks = 0;
        __syncthreads();
    }

    /// Whether there may be more blocks than there is room for.
    [[nodiscard]] __device__ bool full() const {
        return *static_cast<const volatile unsigned*>(&blocks) > most;
    }

    /// A column of each lane; no_key is none. All lanes call it.
    __device__ void insert(std::uint32_t column) {
        bool first_of_kind = false;
        const std::uint32_t block = column != no_key ? column / 32 : no_key;
        const int home = insert_key<size>(keys, block, first_of_kind);
        if (column != no_key) {
            const std::uint32_t bit = 1u << (column % 32);
            if ((*static_cast<volatile std::uint32_t*>(&bits[home]) & bit) == 0)
                atomicOr(&bits[home], bit);
        }
        const unsigned firsts = __ballot_sync(all_lanes, first_of_kind);
        if (firsts != 0 && lane_number() == 0)
            atomicAdd(&blocks, static_cast<unsigned>(__popc(firsts)));
        __syncwarp();
    }

    /// The columns of a row of C.
    __device__ void insert_row(const csr_pattern& a, const csr_pattern& b, std::int64_t row,
                               int width) {
        for_columns_of_row(a, b, row, width, [this](std::uint32_t column) {
            if (__any_sync(all_lanes, full())) return false;
            insert(column);
            return true;
        });
    }
};
static_assert(blocked_row_memory::most + 32 * block_warps < blocked_row_memory::size);

/// Sorts `size` keys, a power of two, in a bitonic network. The whole block calls it.
__device__ inline void sort_in_block(unsigned long long* keys, int size) {
    for (int run = 2; run <= size; run *= 2)
        for (int by = run / 2; by > 0; by /= 2) {
            __syncthreads();
            for (int pair = static_cast<int>(threadIdx.x); pair < size / 2; pair += block_threads) {
                const int at = 2 * pair - (pair & (by - 1));
                const unsigned long long one = keys[at];
                const unsigned long long other = keys[at + by];
                if ((one > other) != ((at & run) == 0)) continue;
                keys[at] = other;
                keys[at + by] = one;
            }
        }
    __syncthreads();
}

/// Counts the columns of rows, and keeps them where the pool has room; or, where `Write`, writes
/// them to C.
template <bool Write>
__global__ void __launch_bounds__(block_threads)
    blocked_rows(const __grid_constant__ csr_pattern a, const __grid_constant__ csr_pattern b,
                 const joined_lists lists, int width, std::int32_t* counts,
                 const std::int64_t* offsets, std::int32_t* columns, const column_pool pool,
                 const overflow_list overflow) {
    __shared__ blocked_row_memory table;
    __shared__ unsigned long long sorted[blocked_row_memory::size];
    __shared__ int warp_sums[block_warps];
    __shared__ unsigned listed;
    __shared__ unsigned long long place;
    const std::int64_t all = lists.count();
    for (std::int64_t item = blockIdx.x; item < all; item += gridDim.x) {
        const std::int64_t row = lists.row(item);
        __syncthreads();
        table.clear();
        table.insert_row(a, b, row, width);
        __syncthreads();
        if (table.full()) {
            if (threadIdx.x == 0) overflow.add(row);
            continue;
        }
        if constexpr (!Write) {
            int sum = 0;
            for (int i = static_cast<int>(threadIdx.x); i < blocked_row_memory::size;
                 i += block_threads)
                sum += __popc(table.bits[i]);
            sum = block_sum_for_all(sum, warp_sums);
            if (threadIdx.x == 0) {
                counts[row] = sum;
                place = pool.take(row, sum);
            }
            __syncthreads();
            if (place == pool.capacity) continue;
        }
        {
            int size = 2;
            while (size < static_cast<int>(table.blocks)) size *= 2;
            if (threadIdx.x == 0) listed = 0;
            for (int i = static_cast<int>(threadIdx.x); i < size; i += block_threads)
                sorted[i] = ~0ull;
            __syncthreads();
            for (int i = static_cast<int>(threadIdx.x); i < blocked_row_memory::size;
                 i += block_threads)
                if (table.keys[i] != no_key)
                    sorted[atomicAdd(&listed, 1u)] =
                        static_cast<unsigned long long>(table.keys[i]) << 32 | table.bits[i];
            sort_in_block(sorted, size);
            std::int32_t* to = Write ? columns + offsets[row] : pool.columns + place;
            for (int first = 0; first < static_cast<int>(listed); first += block_threads) {
                const int i = first + static_cast<int>(threadIdx.x);
                const unsigned long long word = i < static_cast<int>(listed) ? sorted[i] : 0;
                to += write_bits(static_cast<std::uint32_t>(word),
                                 static_cast<std::int64_t>(word >> 32) * 32, to, warp_sums);
            }
        }
    }
}

} // namespace krylith::cuda
