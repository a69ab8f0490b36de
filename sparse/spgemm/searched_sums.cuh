// The numeric phase for rows without places: a warp adds up 512 neighbouring entries of a row of C
// in shared memory, one row of B after the other, and finds the place of each product by binary
// search among their columns. Long rows of C are many chunks, which need no order.
#pragma once

#include <cstdint>

#include <krylith/sparse/spgemm/placed_sums.cuh>
#include <krylith/sparse/spgemm/wide_rows.cuh>

namespace krylith::cuda {

template <class T, int Chunk>
struct searched_memory {
    T sums[Chunk];
    std::int32_t columns[Chunk];
};

/// The chunks of all rows of a list: those of item i are [chunks_at[i], chunks_at[i + 1]).
struct chunk_list {
    row_list rows;
    const std::int64_t* chunks_at;
    std::int64_t chunks;
};

/// The item of a list that a chunk belongs to.
[[nodiscard]] __device__ inline std::int64_t item_of_chunk(const chunk_list& list,
                                                           std::int64_t chunk) {
    std::int64_t item = 0;
    for (std::int64_t end = list.rows.count; end - item > 1;) {
        const std::int64_t middle = (item + end) / 2;
        if (list.chunks_at[middle] <= chunk)
            item = middle;
        else
            end = middle;
    }
    return item;
}

/// The first of `count` columns, which ascend, that is at least `column`. All lanes take the same
/// number of steps.
[[nodiscard]] __device__ inline int place_among(const std::int32_t* columns, int count,
                                                std::int32_t column) {
    int place = 0;
    for (int rest = count; rest > 1;) {
        const int half = rest / 2;
        place += columns[place + half - 1] < column ? half : 0;
        rest -= half;
    }
    return place;
}

template <int Chunk, class T>
__global__ void __launch_bounds__(block_threads)
    searched_sums(const __grid_constant__ device_csr_view<T> a,
                  const __grid_constant__ device_csr_view<T> b, const chunk_list list,
                  const std::int64_t* offsets, const std::int32_t* indices, T* values,
                  unsigned long long* next) {
    extern __shared__ __align__(16) unsigned char shared[];
    searched_memory<T, Chunk>& mine =
        reinterpret_cast<searched_memory<T, Chunk>*>(shared)[threadIdx.x / 32];
    const int lane = lane_number();
    for (;;) {
        unsigned long long taken = 0;
        if (lane == 0) taken = atomicAdd(next, 1ull);
        const auto task = static_cast<std::int64_t>(__shfl_sync(all_lanes, taken, 0));
        if (task >= list.chunks) return;
        const std::int64_t item = item_of_chunk(list, task);
        const std::int64_t row = list.rows.rows != nullptr ? list.rows.rows[item] : item;
        const std::int64_t first = offsets[row] + (task - list.chunks_at[item]) * Chunk;
        const int count = static_cast<int>(min(std::int64_t{Chunk}, offsets[row + 1] - first));
        const bool whole = offsets[row + 1] - offsets[row] <= Chunk;
        for (int i = lane; i < count; i += 32) {
            mine.sums[i] = T{0};
            mine.columns[i] = indices[first + i];
        }
        __syncwarp();
        const std::int32_t low = mine.columns[0];
        const std::int64_t high = std::int64_t{mine.columns[count - 1]} + 1;
        const std::int64_t a_end = a.offsets[row + 1];
        for (std::int64_t k = a.offsets[row]; k < a_end; k += 32) {
            std::int64_t from = 0;
            int length = 0;
            T factor = 0;
            if (k + lane < a_end) {
                const std::int32_t number = a.indices[k + lane];
                factor = a.values[k + lane];
                from = b.offsets[number];
                std::int64_t end = b.offsets[number + 1];
                if (!whole) {
                    from = lower_bound_of(b.indices, from, end, low);
                    end = lower_bound_of(b.indices, from, end, high);
                }
                length = static_cast<int>(end - from);
            }
            for (unsigned left = __ballot_sync(all_lanes, length != 0); left != 0;
                 left &= left - 1) {
                const int of = __ffs(left) - 1;
                const std::int64_t begin = __shfl_sync(all_lanes, from, of);
                const int products = __shfl_sync(all_lanes, length, of);
                const T times = __shfl_sync(all_lanes, factor, of);
                constexpr int flight = 2;
                for (int j = lane; j < products; j += 32 * flight) {
                    std::int32_t column[flight];
                    T value[flight];
#pragma unroll
                    for (int u = 0; u < flight; ++u)
                        if (j + u * 32 < products) {
                            column[u] = b.indices[begin + j + u * 32];
                            value[u] = b.values[begin + j + u * 32];
                        }
#pragma unroll
                    for (int u = 0; u < flight; ++u)
                        if (j + u * 32 < products) {
                            T& sum = mine.sums[place_among(mine.columns, count, column[u])];
                            sum = add_product(times, value[u], sum);
                        }
                }
                __syncwarp();
            }
        }
        for (int i = lane; i < count; i += 32) values[first + i] = mine.sums[i];
        __syncwarp();
    }
}

} // namespace krylith::cuda
