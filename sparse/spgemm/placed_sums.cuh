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

/// A row of B, and what it is multiplied by, in 16 bytes.
template <class T>
struct alignas(16) scaled_row {
    std::int64_t where; ///< 4096 times where it begins, and its length
    T factor;

    static constexpr int length_bits = 12;
    static_assert(most_placed_products < 1 << length_bits);
    [[nodiscard]] __device__ int length() const {
        return static_cast<int>(where & ((1 << length_bits) - 1));
    }
    [[nodiscard]] __device__ std::int64_t begin() const { return where >> length_bits; }
};

/// The numbers from one row's sums to the next one's: rows with the same pattern, as a mesh has
/// them, must not meet in the same banks of shared memory.
[[nodiscard]] KRYLITH_HD constexpr int placed_stride(int room) noexcept {
    return room + 8;
}

/// The rows of B of all groups of lanes of a block, with a gap behind each, so that they lie in
/// other banks.
[[nodiscard]] KRYLITH_HD constexpr int placed_rows_of_b(int lanes) noexcept {
    return block_threads / lanes * (lanes + 1);
}

template <class T>
[[nodiscard]] inline std::size_t placed_bytes(int lanes, int room, bool columns) {
    return placed_rows_of_b(lanes) * sizeof(scaled_row<T>) +
           static_cast<std::size_t>(block_threads / lanes) *
               static_cast<std::size_t>(placed_stride(room)) *
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
    const int stride = placed_stride(room);
    scaled_row<T>* const from = reinterpret_cast<scaled_row<T>*>(shared) + group * (Lanes + 1);
    T* const all_sums =
        reinterpret_cast<T*>(shared + placed_rows_of_b(Lanes) * sizeof(scaled_row<T>));
    T* const sums = all_sums + group * stride;
    std::int32_t* const columns =
        reinterpret_cast<std::int32_t*>(all_sums + groups * stride) + group * stride;
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
        const int most_entries = __reduce_max_sync(all_lanes, entries);
        for (int k = 0; k < most_entries; k += Lanes) {
            scaled_row<T> mine{0, T{0}};
            if (k + lane < entries) {
                const std::int32_t number = a.indices[begin + k + lane];
                const std::int64_t there_from = b.offsets[number];
                mine.where = (there_from << scaled_row<T>::length_bits) +
                             (b.offsets[number + 1] - there_from);
                mine.factor = a.values[begin + k + lane];
            }
            from[lane] = mine;
            __syncwarp();
            const bool tails = __any_sync(all_lanes, mine.length() > Lanes) != 0;
            const int some = min(Lanes, most_entries - k);
            for (int u0 = 0; u0 < some; u0 += flight) {
                scaled_row<T> row_of[flight];
                T value[flight];
                std::uint8_t place[flight];
                std::int32_t column[flight];
                const std::uint8_t* at = place_at + lane;
#pragma unroll
                for (int u = 0; u < flight; ++u) {
                    row_of[u] = from[u0 + u];
                    if (lane < row_of[u].length()) {
                        value[u] = b.values[row_of[u].begin() + lane];
                        place[u] = *at;
                        if constexpr (Columns) column[u] = b.indices[row_of[u].begin() + lane];
                    }
                    at += row_of[u].length();
                }
#pragma unroll
                for (int u = 0; u < flight; ++u) {
                    const int length = row_of[u].length();
                    if (lane < length) {
                        sums[place[u]] = add_product(row_of[u].factor, value[u], sums[place[u]]);
                        if constexpr (Columns) columns[place[u]] = column[u];
                    }
                    if (tails)
                        for (int j = lane + Lanes; j < length; j += Lanes) {
                            const int p = place_at[j];
                            const std::int64_t there_from = row_of[u].begin() + j;
                            sums[p] = add_product(row_of[u].factor, b.values[there_from], sums[p]);
                            if constexpr (Columns) columns[p] = b.indices[there_from];
                        }
                    place_at += length;
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
