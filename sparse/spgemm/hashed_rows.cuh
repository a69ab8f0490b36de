// The symbolic phase for rows of up to 1024 products, a warp a row.
//
// The hash table holds blocks of 32 columns with a bit for each: neighbours of a mesh share blocks,
// so that the square of a 27-point stencil has some 45 blocks for 729 products. The place of a
// column is the number of bits in smaller blocks and before it in its own.
#pragma once

#include <cstdint>

#include <krylith/sparse/spgemm/short_rows.cuh>

namespace krylith::cuda {

/// The rows that found no room in their table, to be done by another kernel, in any order.
struct overflow_list {
    std::int32_t* rows;
    unsigned* count;
};

struct hashed_row_memory {
    static constexpr int size = 256;
    static constexpr int most = 192; ///< blocks; the warp adds up to 32 before it looks
    std::uint32_t keys[size];        ///< numbers of blocks
    std::uint32_t bits[size];
    std::uint32_t list[size];   ///< keys without gaps
    std::uint16_t before[size]; ///< bits of smaller blocks, at the home of a block
    std::uint8_t counts[size];  ///< bits of blocks of `list`
    std::uint8_t homes[size];   ///< where in `keys` those of `list` are
};

/// Calls visit(lane's column, product's number in the row) with W lanes for a row of B. All lanes
/// of the warp call visit together; lanes without a product have the column no_key. Stops where
/// visit returns false, which all lanes do together.
template <class Visit>
__device__ inline void for_products(const csr_pattern& a, const csr_pattern& b, std::int64_t begin,
                                    int entries, int width, Visit visit) {
    const int lane = lane_number();
    int products = 0;
    for (int k = 0; k < entries; k += 32) {
        const referred_rows<32> from(a, b.offsets, begin + k + lane, k + lane < entries, lane);
        const int part = lane / width;
        const int within = lane % width;
        const int rows = min(32, entries - k);
        for (int row = 0; row < rows; row += 32 / width) {
            const std::int64_t there = __shfl_sync(all_lanes, from.begin, row + part);
            const int length = __shfl_sync(all_lanes, from.length, row + part);
            const int at = products + __shfl_sync(all_lanes, from.at, row + part);
            const int longest = __reduce_max_sync(all_lanes, length);
            for (int j = within; j - within < longest; j += width) {
                const std::uint32_t column =
                    j < length ? static_cast<std::uint32_t>(b.indices[there + j]) : no_key;
                if (!visit(column, at + j)) return;
            }
        }
        products += from.total;
    }
}

__global__ void __launch_bounds__(block_threads)
    hashed_rows(const __grid_constant__ csr_pattern a, const __grid_constant__ csr_pattern b,
                const row_list rows, int width, const symbolic_results to,
                const overflow_list overflow) {
    using memory = hashed_row_memory;
    extern __shared__ __align__(16) unsigned char shared[];
    memory& mine = reinterpret_cast<memory*>(shared)[threadIdx.x / 32];
    const int lane = lane_number();
    const unsigned lower = (1u << lane) - 1;
    for (std::int64_t item = std::int64_t{blockIdx.x} * block_warps + threadIdx.x / 32;
         item < rows.count; item += std::int64_t{gridDim.x} * block_warps) {
        const std::int64_t row = rows.rows != nullptr ? rows.rows[item] : item;
        const std::int64_t begin = a.offsets[row];
        const auto entries = static_cast<int>(a.offsets[row + 1] - begin);
        for (int i = lane; i < memory::size; i += 32) {
            mine.keys[i] = no_key;
            mine.bits[i] = 0;
        }
        __syncwarp();
        int blocks = 0;
        for_products(a, b, begin, entries, width, [&](std::uint32_t column, int) {
            bool first_of_kind = false;
            if (column != no_key) {
                const std::uint32_t key = column / 32;
                const std::uint32_t bit = 1u << (column % 32);
                std::uint32_t home = hash_of(key) % memory::size;
                for (;;) {
                    std::uint32_t old = *static_cast<volatile std::uint32_t*>(&mine.keys[home]);
                    if (old == no_key) {
                        old = atomicCAS(&mine.keys[home], no_key, key);
                        first_of_kind = old == no_key;
                    }
                    if (first_of_kind || old == key) break;
                    home = (home + 1) % memory::size;
                }
                if ((*static_cast<volatile std::uint32_t*>(&mine.bits[home]) & bit) == 0)
                    atomicOr(&mine.bits[home], bit);
            }
            blocks += __popc(__ballot_sync(all_lanes, first_of_kind));
            return blocks <= memory::most;
        });
        __syncwarp();
        if (blocks > memory::most) {
            if (lane == 0) overflow.rows[atomicAdd(overflow.count, 1u)] = static_cast<int>(row);
            __syncwarp();
            continue;
        }
        int listed = 0;
        for (int i = lane; i < memory::size; i += 32) {
            const std::uint32_t key = mine.keys[i];
            const unsigned there = __ballot_sync(all_lanes, key != no_key);
            const int c = listed + __popc(there & lower);
            if (key != no_key) {
                mine.list[c] = key;
                mine.counts[c] = static_cast<std::uint8_t>(__popc(mine.bits[i]));
                mine.homes[c] = static_cast<std::uint8_t>(i);
            }
            listed += __popc(there);
        }
        if (lane < 4) mine.list[listed + lane] = no_key;
        __syncwarp();
        unsigned results = 0;
        for (int c = lane; c < listed; c += 32) {
            const std::uint32_t own = mine.list[c];
            unsigned before = 0;
            for (int other = 0; other < listed; other += 4) {
                const uint4 key = reinterpret_cast<const uint4*>(mine.list)[other / 4];
                const uchar4 count = reinterpret_cast<const uchar4*>(mine.counts)[other / 4];
                before += (key.x < own ? count.x : 0) + (key.y < own ? count.y : 0) +
                          (key.z < own ? count.z : 0) + (key.w < own ? count.w : 0);
            }
            mine.before[mine.homes[c]] = static_cast<std::uint16_t>(before);
            results += mine.counts[c];
        }
        results = warp_sum(results);
        __syncwarp();
        if (lane == 0) to.counts[row] = static_cast<int>(results);
        if (to.places != nullptr && results <= most_placed_results) {
            const std::int64_t to_place = to.places_at[row];
            for_products(a, b, begin, entries, width, [&](std::uint32_t column, int at) {
                if (column == no_key) return true;
                const std::uint32_t key = column / 32;
                std::uint32_t home = hash_of(key) % memory::size;
                while (mine.keys[home] != key) home = (home + 1) % memory::size;
                const unsigned place =
                    mine.before[home] + __popc(mine.bits[home] & ((1u << (column % 32)) - 1));
                to.places[to_place + at] = static_cast<std::uint8_t>(place);
                return true;
            });
        }
        __syncwarp();
    }
}

} // namespace krylith::cuda
