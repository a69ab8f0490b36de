// How kernels for several right-hand sides divide their vectors: a thread has two neighbouring
// columns of a row. Included by .cu files only.
#pragma once

#include <cstdint>

#include <krylith/solvers/joint/column_count.hpp>

namespace krylith::cuda {

/// Columns of one thread: two entries of double are one load of 16 bytes.
inline constexpr int column_width = 2;
/// Threads of one row.
template <int K>
inline constexpr int row_lanes = K / column_width;

/// The entries of a thread's columns in one row.
template <class T, int K>
struct alignas(sizeof(T) * column_width) column_entries {
    T at[column_width];
};

template <class T, int K>
[[nodiscard]] __device__ inline column_entries<T, K> load_entries(const T* v, std::int64_t item) {
    return reinterpret_cast<const column_entries<T, K>*>(v)[item];
}

template <class T, int K>
__device__ inline void store_entries(T* v, std::int64_t item, const column_entries<T, K>& e) {
    reinterpret_cast<column_entries<T, K>*>(v)[item] = e;
}

/// The place of this thread among those of its row.
template <int K>
[[nodiscard]] __device__ inline int row_lane() {
    return static_cast<int>(threadIdx.x) % row_lanes<K>;
}
/// The first of the columns of this thread.
template <int K>
[[nodiscard]] __device__ inline int first_column() {
    return row_lane<K>() * column_width;
}

/// Adds up a thread's sums over its warp: value set * K + j, that of column j, goes to `to`.
template <int K, int Sets>
__device__ inline void store_column_sums(const double (&sums)[Sets * column_width], double* to) {
    const int lane = static_cast<int>(threadIdx.x & 31);
#pragma unroll
    for (int s = 0; s < Sets; ++s)
#pragma unroll
        for (int c = 0; c < column_width; ++c) {
            double sum = sums[s * column_width + c];
#pragma unroll
            for (int distance = 16; distance >= row_lanes<K>; distance /= 2)
                sum += __shfl_xor_sync(0xffffffffu, sum, distance);
            if (lane < row_lanes<K>) to[s * K + lane * column_width + c] = sum;
        }
}

} // namespace krylith::cuda
