// The numeric phase for short rows whose products know their places, a thread a row: C's rows are
// added up in shared memory, those of a warp one behind the other.
//
// The rows of B that a row refers to are one or two entries long where B is a prolongation: a lane
// an entry of them, as placed_sums.cuh has it, would leave most lanes without one.
#pragma once

#include <cstdint>

#include <krylith/sparse/spgemm/placed_sums.cuh>

namespace krylith::cuda {

/// The sums of a warp's rows.
template <class T>
struct lane_memory {
    static constexpr int size = 32 * most_lane_results;
    T sums[size];
    std::int32_t columns[size];
};

template <bool Columns, class T>
__global__ void __launch_bounds__(block_threads)
    lane_sums(const __grid_constant__ device_csr_view<T> a,
              const __grid_constant__ device_csr_view<T> b, const row_list rows,
              const std::int64_t* places_at, const std::uint8_t* places,
              const numeric_results<T> to) {
    constexpr int most = most_merged_entries;
    extern __shared__ __align__(16) unsigned char shared[];
    lane_memory<T>& mine = reinterpret_cast<lane_memory<T>*>(shared)[threadIdx.x / 32];
    const int lane = lane_number();
    for (std::int64_t first = std::int64_t{blockIdx.x} * block_threads + threadIdx.x / 32 * 32;
         first < rows.count; first += std::int64_t{gridDim.x} * block_threads) {
        const bool there = first + lane < rows.count;
        const std::int64_t row = !there                 ? 0
                                 : rows.rows != nullptr ? rows.rows[first + lane]
                                                        : first + lane;
        const std::int64_t begin = there ? a.offsets[row] : 0;
        const int entries = there ? static_cast<int>(a.offsets[row + 1] - begin) : 0;
        const std::int64_t result = there ? to.offsets[row] : 0;
        const int results = there ? static_cast<int>(to.offsets[row + 1] - result) : 0;
        const std::uint8_t* place = places + (there ? places_at[row] : 0);
        const int end = warp_running_sum(results);
        T* const sums = mine.sums + end - results;
        std::int32_t* const columns = mine.columns + end - results;
        for (int i = 0; i < results; ++i) sums[i] = T{0};
        // The first entry of each row of B is loaded before any is needed.
        std::int32_t number[most];
        T factor[most];
        std::int64_t from[most];
        int length[most];
        T value[most];
        [[maybe_unused]] std::int32_t column[most];
#pragma unroll
        for (int k = 0; k < most; ++k)
            if (k < entries) {
                number[k] = a.indices[begin + k];
                factor[k] = a.values[begin + k];
            }
#pragma unroll
        for (int k = 0; k < most; ++k) {
            length[k] = 0;
            if (k < entries) {
                from[k] = b.offsets[number[k]];
                length[k] = static_cast<int>(b.offsets[number[k] + 1] - from[k]);
            }
        }
#pragma unroll
        for (int k = 0; k < most; ++k)
            if (length[k] != 0) {
                value[k] = b.values[from[k]];
                if constexpr (Columns) column[k] = b.indices[from[k]];
            }
#pragma unroll
        for (int k = 0; k < most; ++k) {
            if (length[k] == 0) continue;
            T& sum = sums[*place];
            sum = add_product(factor[k], value[k], sum);
            if constexpr (Columns) columns[*place] = column[k];
            ++place;
            for (int i = 1; i < length[k]; ++i, ++place) {
                T& other = sums[*place];
                other = add_product(factor[k], b.values[from[k] + i], other);
                if constexpr (Columns) columns[*place] = b.indices[from[k] + i];
            }
        }
        __syncwarp();
        const std::int64_t warp_result = __shfl_sync(all_lanes, result, 0);
        // Rows that follow each other have their results in one piece.
        if (__all_sync(all_lanes, !there || result - warp_result == end - results)) {
            const int all = __shfl_sync(all_lanes, end, 31);
            for (int i = lane; i < all; i += 32) {
                to.values[warp_result + i] = mine.sums[i];
                if constexpr (Columns) to.indices[warp_result + i] = mine.columns[i];
            }
        } else {
            for (int i = 0; i < results; ++i) {
                to.values[result + i] = sums[i];
                if constexpr (Columns) to.indices[result + i] = columns[i];
            }
        }
        __syncwarp();
    }
}

} // namespace krylith::cuda
