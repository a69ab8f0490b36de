// The symbolic phase for hashed rows whose columns found no room in hash tables of columns, a warp
// a row: they have more than 192 of them, and only their number is wanted.
//
// The hash table holds blocks of 32 columns with a bit for each: neighbours of a mesh share blocks.
#pragma once

#include <cstdint>

#include <krylith/sparse/spgemm/hashed_rows.cuh>

namespace krylith::cuda {

struct hashed_block_memory {
    static constexpr int size = 256;
    static constexpr int most = 192; ///< blocks; the warp adds up to 32 before it looks
    std::uint32_t keys[size];        ///< numbers of blocks
    std::uint32_t bits[size];
};

/// Calls visit(lane's column) for all products of a row, with `width` lanes for a row of B. All
/// lanes of the warp call visit together; lanes without a product have the column no_key. Stops
/// where visit returns false, which all lanes do together.
template <class Visit>
__device__ inline void for_products(const csr_pattern& a, const csr_pattern& b, std::int64_t begin,
                                    int entries, int width, Visit visit) {
    const int lane = lane_number();
    for (int k = 0; k < entries; k += 32) {
        const referred_rows<32> from(a, b.offsets, begin + k + lane, k + lane < entries, lane);
        const int part = lane / width;
        const int within = lane % width;
        const int rows = min(32, entries - k);
        for (int row = 0; row < rows; row += 32 / width) {
            const std::int64_t there = __shfl_sync(all_lanes, from.begin, row + part);
            const int length = __shfl_sync(all_lanes, from.length, row + part);
            const int longest = __reduce_max_sync(all_lanes, length);
            for (int j = within; j - within < longest; j += width) {
                const std::uint32_t column =
                    j < length ? static_cast<std::uint32_t>(b.indices[there + j]) : no_key;
                if (!visit(column)) return;
            }
        }
    }
}

__global__ void __launch_bounds__(block_threads)
    hashed_blocks(const __grid_constant__ csr_pattern a, const __grid_constant__ csr_pattern b,
                  const counted_rows rows, int width, std::int32_t* counts,
                  const overflow_list overflow) {
    using memory = hashed_block_memory;
    __shared__ memory memories[block_warps];
    memory& mine = memories[threadIdx.x / 32];
    const int lane = lane_number();
    const std::int64_t all = *rows.count;
    for (std::int64_t item = std::int64_t{blockIdx.x} * block_warps + threadIdx.x / 32; item < all;
         item += std::int64_t{gridDim.x} * block_warps) {
        const std::int64_t row = rows.rows[item];
        const std::int64_t begin = a.offsets[row];
        const auto entries = static_cast<int>(a.offsets[row + 1] - begin);
        for (int i = lane; i < memory::size; i += 32) {
            mine.keys[i] = no_key;
            mine.bits[i] = 0;
        }
        __syncwarp();
        int blocks = 0;
        for_products(a, b, begin, entries, width, [&](std::uint32_t column) {
            bool first_of_kind = false;
            const std::uint32_t block = column != no_key ? column / 32 : no_key;
            const int home = insert_key<memory::size>(mine.keys, block, first_of_kind);
            if (column != no_key) {
                const std::uint32_t bit = 1u << (column % 32);
                if ((*static_cast<volatile std::uint32_t*>(&mine.bits[home]) & bit) == 0)
                    atomicOr(&mine.bits[home], bit);
            }
            blocks += __popc(__ballot_sync(all_lanes, first_of_kind));
            return blocks <= memory::most;
        });
        __syncwarp();
        if (blocks > memory::most) {
            if (lane == 0) overflow.add(row);
        } else {
            unsigned results = 0;
            for (int i = lane; i < memory::size; i += 32)
                results += static_cast<unsigned>(__popc(mine.bits[i]));
            results = warp_sum(results);
            if (lane == 0) counts[row] = static_cast<int>(results);
        }
        __syncwarp();
    }
}

} // namespace krylith::cuda
