// The symbolic phase for rows of up to 1024 products, a warp a row.
//
// Products get the home of their column in a hash table of 256. The place of a column is the number
// of smaller ones, found by comparing all with all, and then homes become places.
#pragma once

#include <cstdint>

#include <krylith/sparse/spgemm/column_tables.cuh>
#include <krylith/sparse/spgemm/short_rows.cuh>

namespace krylith::cuda {

struct hashed_row_memory {
    static constexpr int size = 256;
    static constexpr int most = most_placed_results; ///< the warp adds up to 32 before it looks
    std::uint32_t keys[size];                        ///< columns
    std::uint32_t list[size];                        ///< those without gaps
    std::uint8_t homes[size];                        ///< where in `keys` those of `list` are
    std::uint8_t places[size];                       ///< of a home
    std::uint8_t products[most_hashed_products];     ///< homes
};
static_assert(hashed_row_memory::most + 32 < hashed_row_memory::size);

/// The products of up to 32 rows of B, one after the other. Lane i has those of row i.
struct joined_products {
    std::int64_t begin; ///< of the lane's row of B, less the number of its first product
    int at;             ///< the number of its first product
    int total;

    __device__ joined_products(const csr_pattern& a, const std::int64_t* b_offsets, std::int64_t k,
                               bool there) {
        const referred_rows<32> from(a, b_offsets, k, there, lane_number());
        begin = from.begin - from.at;
        at = from.at;
        total = from.total;
    }

    /// Where product `number` lies in B; all lanes call it.
    [[nodiscard]] __device__ std::int64_t place_of(int number) const {
        int row = 0; // the last one that begins at or before it
#pragma unroll
        for (int by = 16; by > 0; by /= 2)
            if (__shfl_sync(all_lanes, at, row + by) <= number) row += by;
        return __shfl_sync(all_lanes, begin, row) + number;
    }
};

/// Puts the columns of a row into the table and returns how many there are, or more than there is
/// room for.
__device__ inline int insert_row(const csr_pattern& a, const csr_pattern& b, std::int64_t begin,
                                 std::int64_t end, hashed_row_memory& mine, int& products) {
    constexpr int flight = 4;
    const unsigned lower = (1u << lane_number()) - 1;
    int found = 0;
    products = 0;
    for (std::int64_t k = begin; k < end; k += 32) {
        const joined_products rows(a, b.offsets, k + lane_number(), k + lane_number() < end);
        for (int first = 0; first < rows.total; first += 32 * flight) {
            std::uint32_t column[flight];
#pragma unroll
            for (int u = 0; u < flight; ++u) {
                const int number = first + u * 32 + lane_number();
                const std::int64_t there = rows.place_of(number);
                column[u] =
                    number < rows.total ? static_cast<std::uint32_t>(b.indices[there]) : no_key;
            }
#pragma unroll
            for (int u = 0; u < flight; ++u) {
                if (first + u * 32 >= rows.total) break;
                bool first_of_kind = false;
                int home = 0;
                if (column[u] != no_key) {
                    home = insert_key<hashed_row_memory::size>(mine.keys, column[u], first_of_kind);
                    mine.products[products + first + u * 32 + lane_number()] =
                        static_cast<std::uint8_t>(home);
                }
                const unsigned firsts = __ballot_sync(all_lanes, first_of_kind);
                if (first_of_kind) {
                    const int c = found + __popc(firsts & lower);
                    mine.list[c] = column[u];
                    mine.homes[c] = static_cast<std::uint8_t>(home);
                }
                found += __popc(firsts);
                if (found > hashed_row_memory::most) return found;
            }
        }
        products += rows.total;
    }
    return found;
}

__global__ void __launch_bounds__(block_threads)
    hashed_rows(const __grid_constant__ csr_pattern a, const __grid_constant__ csr_pattern b,
                const row_list rows, const symbolic_results to, const overflow_list overflow) {
    using memory = hashed_row_memory;
    __shared__ __align__(16) memory memories[block_warps];
    memory& mine = memories[threadIdx.x / 32];
    const int lane = lane_number();
    for (std::int64_t item = std::int64_t{blockIdx.x} * block_warps + threadIdx.x / 32;
         item < rows.count; item += std::int64_t{gridDim.x} * block_warps) {
        const std::int64_t row = rows.rows != nullptr ? rows.rows[item] : item;
#pragma unroll
        for (int i = 0; i < memory::size / 128; ++i)
            reinterpret_cast<uint4*>(mine.keys)[i * 32 + lane] = {no_key, no_key, no_key, no_key};
        __syncwarp();
        int products = 0;
        const int found = insert_row(a, b, a.offsets[row], a.offsets[row + 1], mine, products);
        __syncwarp();
        if (found > memory::most) {
            if (lane == 0) overflow.add(row);
            __syncwarp();
            continue;
        }
        if (lane == 0) to.counts[row] = found;
        if (to.places == nullptr) continue;
        if (lane < 4) mine.list[found + lane] = no_key;
        __syncwarp();
        for (int c = lane; c < found; c += 32) {
            const std::uint32_t own = mine.list[c];
            std::uint32_t place = 0;
            for (int other = 0; other < found; other += 4) {
                const uint4 some = reinterpret_cast<const uint4*>(mine.list)[other / 4];
                place += (some.x < own) + (some.y < own) + (some.z < own) + (some.w < own);
            }
            mine.places[mine.homes[c]] = static_cast<std::uint8_t>(place);
        }
        __syncwarp();
        std::uint8_t* const places = to.places + to.places_at[row];
        for (int i = lane; i < products; i += 32) places[i] = mine.places[mine.products[i]];
        __syncwarp();
    }
}

} // namespace krylith::cuda
