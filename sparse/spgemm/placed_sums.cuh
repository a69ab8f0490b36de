// The numeric phase for rows whose products know their places: C's row is added up in shared
// memory, a few lanes a row, one row of B after the other. The entries of a row of B have different
// places, so that lanes don't meet.
#pragma once

#include <cstdint>

#include <krylith/sparse/spgemm/short_rows.cuh>

namespace krylith::cuda {

/// Where values and, in the first numeric phase, columns of C go.
template <class T>
struct numeric_results {
    const std::int64_t* offsets; ///< [rows + 1] of C
    std::int32_t* indices;       ///< null where they are known
    T* values;
};

/// a * b + sum, each rounded, whatever the compiler would fuse.
[[nodiscard]] __device__ inline double add_product(double a, double b, double sum) {
    return __dadd_rn(sum, __dmul_rn(a, b));
}
[[nodiscard]] __device__ inline float add_product(float a, float b, float sum) {
    return __fadd_rn(sum, __fmul_rn(a, b));
}

template <class T>
[[nodiscard]] inline std::size_t placed_bytes(int lanes, int room, bool columns) {
    return static_cast<std::size_t>(block_threads / lanes) * static_cast<std::size_t>(room) *
           (sizeof(T) + (columns ? sizeof(std::int32_t) : 0));
}

template <int Lanes, bool Columns, class T>
__global__ void __launch_bounds__(block_threads)
    placed_sums(const __grid_constant__ device_csr_view<T> a,
                const __grid_constant__ device_csr_view<T> b, const row_list rows, int room,
                const std::int64_t* places_at, const std::uint8_t* places,
                const numeric_results<T> to) {
    constexpr int groups = block_threads / Lanes;
    constexpr int flight = 4; // rows of B that are loaded at once
    extern __shared__ __align__(16) unsigned char shared[];
    const int lane = static_cast<int>(threadIdx.x) % Lanes;
    const int group = static_cast<int>(threadIdx.x) / Lanes;
    T* const sums = reinterpret_cast<T*>(shared) + group * room;
    std::int32_t* const columns =
        reinterpret_cast<std::int32_t*>(reinterpret_cast<T*>(shared) + groups * room) +
        group * room;
    for (std::int64_t first = std::int64_t{blockIdx.x} * groups + threadIdx.x / 32 * (32 / Lanes);
         first < rows.count; first += std::int64_t{gridDim.x} * groups) {
        const std::int64_t item = first + lane_number() / Lanes;
        const bool there = item < rows.count;
        const std::int64_t row = !there ? 0 : rows.rows != nullptr ? rows.rows[item] : item;
        const std::int64_t begin = there ? a.offsets[row] : 0;
        const int entries = there ? static_cast<int>(a.offsets[row + 1] - begin) : 0;
        const std::int64_t result = there ? to.offsets[row] : 0;
        const int results = there ? static_cast<int>(to.offsets[row + 1] - result) : 0;
        const std::uint8_t* place_at = places + (there ? places_at[row] : 0);
        for (int i = lane; i < results; i += Lanes) sums[i] = T{0};
        __syncwarp();
        const int most_entries = __reduce_max_sync(all_lanes, entries);
        for (int k = 0; k < most_entries; k += Lanes) {
            std::int64_t from = 0;
            int length = 0;
            T factor = 0;
            if (k + lane < entries) {
                const std::int32_t number = a.indices[begin + k + lane];
                factor = a.values[begin + k + lane];
                from = b.offsets[number];
                length = static_cast<int>(b.offsets[number + 1] - from);
            }
            const int some = min(Lanes, most_entries - k);
            for (int u0 = 0; u0 < some; u0 += flight) {
                T value[flight];
                std::uint8_t place[flight];
                std::int32_t column[flight];
                int lengths[flight];
                const std::uint8_t* at = place_at;
#pragma unroll
                for (int u = 0; u < flight; ++u) {
                    lengths[u] = __shfl_sync(all_lanes, length, u0 + u, Lanes);
                    const std::int64_t there_from =
                        __shfl_sync(all_lanes, from, u0 + u, Lanes) + lane;
                    if (lane < lengths[u]) {
                        value[u] = b.values[there_from];
                        place[u] = at[lane];
                        if constexpr (Columns) column[u] = b.indices[there_from];
                    }
                    at += lengths[u];
                }
#pragma unroll
                for (int u = 0; u < flight; ++u) {
                    const T times = __shfl_sync(all_lanes, factor, u0 + u, Lanes);
                    if (lane < lengths[u]) {
                        sums[place[u]] = add_product(times, value[u], sums[place[u]]);
                        if constexpr (Columns) columns[place[u]] = column[u];
                    }
                    if (__any_sync(all_lanes, lengths[u] > Lanes)) {
                        const std::int64_t there_from = __shfl_sync(all_lanes, from, u0 + u, Lanes);
                        for (int j = lane + Lanes; j < lengths[u]; j += Lanes) {
                            const int p = place_at[j];
                            sums[p] = add_product(times, b.values[there_from + j], sums[p]);
                            if constexpr (Columns) columns[p] = b.indices[there_from + j];
                        }
                    }
                    place_at += lengths[u];
                    __syncwarp();
                }
            }
        }
        for (int i = lane; i < results; i += Lanes) {
            to.values[result + i] = sums[i];
            if constexpr (Columns) to.indices[result + i] = columns[i];
        }
        __syncwarp();
    }
}

} // namespace krylith::cuda
