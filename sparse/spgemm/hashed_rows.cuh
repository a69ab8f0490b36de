// The symbolic phase for rows whose products may know their places, a warp a row.
//
// Products get the home of their column in a hash table of 256. The place of a column is the number
// of smaller ones, found by comparing all with all, and then homes become places.
#pragma once

#include <cstdint>

#include <krylith/sparse/spgemm/column_tables.cuh>
#include <krylith/sparse/spgemm/joined_pieces.cuh>
#include <krylith/sparse/spgemm/row_lists.cuh>
#include <krylith/sparse/spgemm/short_rows.cuh>

namespace krylith::cuda {

struct hashed_row_memory {
    static constexpr int size = 256;
    static constexpr int most = most_placed_results; ///< the warp adds up to 32 before it looks
    std::uint32_t keys[size];                        ///< columns
    std::uint32_t list[size];                        ///< those without gaps
    std::uint8_t homes[size];                        ///< where in `keys` those of `list` are
    std::uint8_t places[size];                       ///< of a home

    __device__ void clear() {
#pragma unroll
        for (int i = 0; i < size / 128; ++i)
            reinterpret_cast<uint4*>(keys)[i * 32 + lane_number()] = {no_key, no_key, no_key,
                                                                      no_key};
        __syncwarp();
    }
};
static_assert(hashed_row_memory::most + 32 < hashed_row_memory::size);

/// Puts the columns of a row into the table and returns how many there are, or more than there is
/// room for. Where Homes, `homes` gets the home of each product.
template <bool Homes>
__device__ inline int insert_row(const csr_pattern& a, const csr_pattern& b, std::int64_t row,
                                 hashed_row_memory& mine, std::uint8_t* homes, int& products) {
    constexpr int flight = 4;
    const std::int64_t end = a.offsets[row + 1];
    int found = 0;
    products = 0;
    for (std::int64_t k = a.offsets[row]; k < end; k += 32) {
        std::int64_t begin = 0;
        int length = 0;
        if (k + lane_number() < end) {
            const std::int32_t from = a.indices[k + lane_number()];
            begin = b.offsets[from];
            length = static_cast<int>(b.offsets[from + 1] - begin);
        }
        joined_pieces<std::int64_t> rows(begin, length);
        for (int first = 0; first < rows.total(); first += 32 * flight) {
            std::uint32_t column[flight];
#pragma unroll
            for (int u = 0; u < flight; ++u) {
                const std::int64_t there = rows.next(first + u * 32);
                column[u] = first + u * 32 + lane_number() < rows.total()
                                ? static_cast<std::uint32_t>(b.indices[there])
                                : no_key;
            }
#pragma unroll
            for (int u = 0; u < flight; ++u) {
                if (first + u * 32 >= rows.total()) break;
                const int home = list_key<hashed_row_memory::size>(mine.keys, column[u], mine.list,
                                                                   mine.homes, found);
                if (Homes && column[u] != no_key)
                    homes[products + first + u * 32 + lane_number()] =
                        static_cast<std::uint8_t>(home);
                if (found > hashed_row_memory::most) return found;
            }
        }
        products += rows.total();
    }
    return found;
}

/// Sets the place of each home that one of `found` columns has.
__device__ inline void find_places(hashed_row_memory& mine, int found) {
    const int lane = lane_number();
    if (lane < 4) mine.list[found + lane] = no_key;
    __syncwarp();
    for (int c = lane; c < found; c += 32)
        mine.places[mine.homes[c]] =
            static_cast<std::uint8_t>(rank_among(mine.list, found, mine.list[c]));
    __syncwarp();
}

/// Homes become places, where they lie.
__device__ inline void place_products(const hashed_row_memory& mine, int products,
                                      std::uint8_t* places) {
    constexpr int flight = 4;
    for (int first = lane_number(); first < products; first += 32 * flight) {
        std::uint8_t home[flight];
#pragma unroll
        for (int u = 0; u < flight; ++u)
            home[u] = first + u * 32 < products ? places[first + u * 32] : std::uint8_t{0};
#pragma unroll
        for (int u = 0; u < flight; ++u)
            if (first + u * 32 < products) places[first + u * 32] = mine.places[home[u]];
    }
}

__global__ void __launch_bounds__(block_threads)
    hashed_rows(const __grid_constant__ csr_pattern a, const __grid_constant__ csr_pattern b,
                const joined_lists lists, const symbolic_results to, const overflow_list overflow) {
    __shared__ __align__(16) hashed_row_memory memories[block_warps];
    hashed_row_memory& mine = memories[threadIdx.x / 32];
    const std::int64_t all = lists.count();
    for (std::int64_t item = std::int64_t{blockIdx.x} * block_warps + threadIdx.x / 32; item < all;
         item += std::int64_t{gridDim.x} * block_warps) {
        const std::int64_t row = lists.row(item);
        std::uint8_t* const places = to.places != nullptr ? to.places + to.places_at[row] : nullptr;
        mine.clear();
        int products = 0;
        const int found = places != nullptr ? insert_row<true>(a, b, row, mine, places, products)
                                            : insert_row<false>(a, b, row, mine, nullptr, products);
        __syncwarp();
        if (found > hashed_row_memory::most) {
            if (lane_number() == 0) overflow.add(row);
        } else {
            if (lane_number() == 0) to.counts[row] = found;
            if (places != nullptr) {
                find_places(mine, found);
                place_products(mine, products, places);
            }
        }
        __syncwarp();
    }
}

/// Tries the rows of count_class::wide, among every so many-th row, whose products would be few
/// enough to know their places: found[0] gets how many these are, found[1] how many of them have
/// few enough results, too. 0 before.
__global__ void __launch_bounds__(block_threads)
    try_many_products(const __grid_constant__ csr_pattern a, const __grid_constant__ csr_pattern b,
                      const class_rules rules, const std::uint32_t* products, std::int64_t every,
                      unsigned* found) {
    __shared__ __align__(16) hashed_row_memory memories[block_warps];
    hashed_row_memory& mine = memories[threadIdx.x / 32];
    const std::int64_t warp = std::int64_t{blockIdx.x} * block_warps + threadIdx.x / 32;
    for (std::int64_t row = warp * every; row < a.rows;
         row += std::int64_t{gridDim.x} * block_warps * every) {
        if (!rules.of_many(products[row], a.offsets[row + 1] - a.offsets[row])) continue;
        mine.clear();
        int number = 0;
        const int results = insert_row<false>(a, b, row, mine, nullptr, number);
        __syncwarp();
        if (lane_number() != 0) continue;
        atomicAdd(&found[0], 1u);
        if (results <= hashed_row_memory::most) atomicAdd(&found[1], 1u);
    }
}

} // namespace krylith::cuda
