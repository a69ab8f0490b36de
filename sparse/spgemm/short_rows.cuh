// The symbolic phase for rows of up to 64 products, 8 lanes a row.
//
// The columns of all products go to shared memory, and from there into a hash table, which leaves
// one of each. The place of a column is the number of smaller ones, found by comparing all with
// all: some 25 columns of a stencil's square are 80 comparisons a lane, less than a sort needs.
#pragma once

#include <cstdint>

#include <krylith/sparse/spgemm/column_tables.cuh>
#include <krylith/sparse/spgemm/row_classes.hpp>
#include <krylith/sparse/spgemm/spgemm_pattern.hpp>
#include <krylith/vector/execution/kernel_context_cuda.cuh>

namespace krylith::cuda {

/// What kernels of the symbolic phase write.
struct symbolic_results {
    std::int32_t* counts;          ///< [rows] nonzeros of C
    const std::int64_t* places_at; ///< [rows + 1]; null where no places are kept
    std::uint8_t* places;
};

/// The rows of B that 8 or more entries of a row of A refer to, one a lane.
template <int Lanes>
struct referred_rows {
    std::int64_t begin = 0;
    int length = 0;
    int at = 0;    ///< products of the row before
    int total = 0; ///< products of all lanes' rows

    /// Reads entry k, where there is one; all lanes call it.
    __device__ referred_rows(const csr_pattern& a, const std::int64_t* b_offsets, std::int64_t k,
                             bool there, int lane) {
        if (there) {
            const std::int32_t from = a.indices[k];
            begin = b_offsets[from];
            length = static_cast<int>(b_offsets[from + 1] - begin);
        }
        int sum = length;
#pragma unroll
        for (int by = 1; by < Lanes; by *= 2) {
            const int before = __shfl_up_sync(all_lanes, sum, by, Lanes);
            if (lane >= by) sum += before;
        }
        at = sum - length;
        total = __shfl_sync(all_lanes, sum, Lanes - 1, Lanes);
    }
};

template <int Most>
struct short_row_memory {
    std::uint32_t table[2 * Most]; ///< columns, and then the places of these
    std::uint32_t columns[Most];   ///< of all products, and then one of each
    std::uint8_t homes[Most];      ///< where in the table each of `columns` is
};

template <int Lanes, int Most>
__global__ void __launch_bounds__(block_threads)
    short_rows(const __grid_constant__ csr_pattern a, const __grid_constant__ csr_pattern b,
               const row_list rows, const symbolic_results to) {
    constexpr int groups = block_threads / Lanes;
    constexpr int rounds = Most / Lanes;
    __shared__ __align__(16) short_row_memory<Most> memory[groups];
    const int lane = static_cast<int>(threadIdx.x) % Lanes;
    short_row_memory<Most>& mine = memory[threadIdx.x / Lanes];
    const unsigned lower = (1u << lane_number()) - 1;
    const unsigned group_lanes = (Lanes == 32 ? all_lanes : (1u << Lanes) - 1)
                                 << (lane_number() / Lanes * Lanes);
    const std::int64_t warps_first =
        std::int64_t{blockIdx.x} * groups + threadIdx.x / 32 * (32 / Lanes);
    for (std::int64_t first = warps_first; first < rows.count;
         first += std::int64_t{gridDim.x} * groups) {
        const std::int64_t item = first + lane_number() / Lanes;
        const bool there = item < rows.count;
        const std::int64_t row = !there ? 0 : rows.rows != nullptr ? rows.rows[item] : item;
        const std::int64_t begin = there ? a.offsets[row] : 0;
        const std::int64_t end = there ? a.offsets[row + 1] : 0;
#pragma unroll
        for (int i = 0; i < 2 * Most / Lanes; i += 4)
            reinterpret_cast<uint4*>(mine.table)[i / 4 * Lanes + lane] = {no_key, no_key, no_key,
                                                                          no_key};
        int products = 0;
        const auto entries = static_cast<int>(end - begin);
        const int most_entries = __reduce_max_sync(all_lanes, entries);
        for (int k = 0; k < most_entries; k += Lanes) {
            const referred_rows<Lanes> from(a, b.offsets, begin + k + lane, k + lane < entries,
                                            lane);
            const int longest = __reduce_max_sync(all_lanes, from.length);
            for (int skip = 0; skip < longest; skip += Lanes) {
                std::uint32_t column[Lanes];
                int at[Lanes];
#pragma unroll
                for (int u = 0; u < Lanes; ++u) {
                    const std::int64_t there_begin = __shfl_sync(all_lanes, from.begin, u, Lanes);
                    const int length = __shfl_sync(all_lanes, from.length, u, Lanes);
                    at[u] = __shfl_sync(all_lanes, from.at, u, Lanes) + skip + lane;
                    if (skip + lane >= length) at[u] = -1;
                    if (at[u] >= 0)
                        column[u] =
                            static_cast<std::uint32_t>(b.indices[there_begin + skip + lane]);
                }
#pragma unroll
                for (int u = 0; u < Lanes; ++u)
                    if (at[u] >= 0) mine.columns[products + at[u]] = column[u];
            }
            products += from.total;
        }
        __syncwarp();
        // Product `lane + round * Lanes` of the row, in registers.
        std::uint32_t column[rounds];
        int home[rounds];
#pragma unroll
        for (int r = 0; r < rounds; ++r)
            column[r] = lane + r * Lanes < products ? mine.columns[lane + r * Lanes] : no_key;
        __syncwarp();
        int found = 0; // different columns
#pragma unroll
        for (int r = 0; r < rounds; ++r) {
            bool first_of_kind = false;
            home[r] = static_cast<int>(hash_of_key(column[r]) % (2 * Most));
            if (column[r] != no_key)
                for (;;) {
                    const std::uint32_t old = atomicCAS(&mine.table[home[r]], no_key, column[r]);
                    first_of_kind = old == no_key;
                    if (first_of_kind || old == column[r]) break;
                    home[r] = (home[r] + 1) % (2 * Most);
                }
            const unsigned firsts = __ballot_sync(all_lanes, first_of_kind) & group_lanes;
            if (first_of_kind) {
                const int c = found + __popc(firsts & lower);
                mine.columns[c] = column[r];
                mine.homes[c] = static_cast<std::uint8_t>(home[r]);
            }
            found += __popc(firsts);
        }
        __syncwarp();
        if (lane < 4 && found + lane < Most) mine.columns[found + lane] = no_key;
        __syncwarp();
        for (int c = lane; c < found; c += Lanes) {
            const std::uint32_t place = rank_among(mine.columns, found, mine.columns[c]);
            mine.table[mine.homes[c]] = place;
        }
        __syncwarp();
        if (there && to.places != nullptr) {
            const std::int64_t at = to.places_at[row];
#pragma unroll
            for (int r = 0; r < rounds; ++r)
                if (column[r] != no_key)
                    to.places[at + lane + r * Lanes] =
                        static_cast<std::uint8_t>(mine.table[home[r]]);
        }
        if (there && lane == 0) to.counts[row] = found;
        __syncwarp();
    }
}

} // namespace krylith::cuda
