// The symbolic phase for rows with up to 8 entries and 64 products, a thread a row.
//
// The rows of B that a row refers to are merged: in each step the least of their next columns is a
// column of C, and the products that have it get its place. The threads of a warp mostly take the
// same branches in meshes, and rows of B that follow each other are read from the same lines of the
// cache. Squares of 7-point stencils take some 50 instructions of a warp a row, a fourth of what a
// hash table takes.
#pragma once

#include <cstdint>

#include <krylith/sparse/spgemm/short_rows.cuh>

namespace krylith::cuda {

__global__ void __launch_bounds__(block_threads)
    merged_rows(const __grid_constant__ csr_pattern a, const __grid_constant__ csr_pattern b,
                const row_list rows, const symbolic_results to) {
    constexpr int heads = most_merged_entries;
    constexpr int stage_bytes = 32 * most_merged_products;
    __shared__ __align__(16) std::uint8_t stages[block_warps][stage_bytes];
    std::uint8_t* const stage = stages[threadIdx.x / 32];
    const int lane = lane_number();
    for (std::int64_t first = std::int64_t{blockIdx.x} * block_threads + threadIdx.x / 32 * 32;
         first < rows.count; first += std::int64_t{gridDim.x} * block_threads) {
        const bool there = first + lane < rows.count;
        const std::int64_t row = !there                 ? 0
                                 : rows.rows != nullptr ? rows.rows[first + lane]
                                                        : first + lane;
        const std::int64_t begin = there ? a.offsets[row] : 0;
        const int entries = there ? static_cast<int>(a.offsets[row + 1] - begin) : 0;
        std::int64_t base[heads]; // of a row of B, less its first product's number
        int at[heads];            // the number of its next product
        int end[heads];
        std::uint32_t head[heads]; // the column of this
        int products = 0;
#pragma unroll
        for (int k = 0; k < heads; ++k) {
            base[k] = 0;
            at[k] = products;
            if (k < entries) {
                const std::int32_t from = a.indices[begin + k];
                base[k] = b.offsets[from];
                products += static_cast<int>(b.offsets[from + 1] - base[k]);
            }
            base[k] -= at[k];
            end[k] = products;
        }
#pragma unroll
        for (int k = 0; k < heads; ++k)
            head[k] =
                at[k] < end[k] ? static_cast<std::uint32_t>(b.indices[base[k] + at[k]]) : no_key;
        const int sum = warp_running_sum(products);
        std::uint8_t* const mine = stage + sum - products;
        int found = 0;
        for (;;) {
            std::uint32_t least = head[0];
#pragma unroll
            for (int k = 1; k < heads; ++k) least = min(least, head[k]);
            if (least == no_key) break;
#pragma unroll
            for (int k = 0; k < heads; ++k) {
                if (head[k] != least) continue;
                mine[at[k]] = static_cast<std::uint8_t>(found);
                ++at[k];
                head[k] = at[k] < end[k] ? static_cast<std::uint32_t>(b.indices[base[k] + at[k]])
                                         : no_key;
            }
            ++found;
        }
        if (there) to.counts[row] = found;
        __syncwarp();
        if (to.places != nullptr) {
            const std::int64_t to_place = there ? to.places_at[row] : 0;
            const std::int64_t warp_place = __shfl_sync(all_lanes, to_place, 0);
            // Rows that follow each other have their places in one piece.
            if (__all_sync(all_lanes, !there || to_place - warp_place == sum - products)) {
                const int all = __shfl_sync(all_lanes, sum, 31);
                for (int i = lane; i < all; i += 32) to.places[warp_place + i] = stage[i];
            } else {
                for (int i = 0; i < products; ++i) to.places[to_place + i] = mine[i];
            }
        }
        __syncwarp();
    }
}

} // namespace krylith::cuda
