// How kernels for several right-hand sides divide their vectors: a thread has one or two
// neighbouring columns of a row. Included by .cu files only.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include <krylith/device/error.hpp>

namespace krylith::cuda {

/// Columns of one thread: two entries of double are one load of 16 bytes.
template <int K>
inline constexpr int column_width = K > 1 ? 2 : 1;
/// Threads of one row.
template <int K>
inline constexpr int row_lanes = K / column_width<K>;

/// The entries of a thread's columns in one row.
template <class T, int K>
struct alignas(sizeof(T) * column_width<K>) column_entries {
    T at[column_width<K>];
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
    return row_lane<K>() * column_width<K>;
}

/// Adds r'r, and r'z where there is a preconditioner, to the sums of one of a thread's columns.
template <bool Preconditioned, int K, class T>
__device__ inline void add_residual(double* sums, int c, T r, T z) {
    sums[c] += static_cast<double>(r) * static_cast<double>(r);
    if constexpr (Preconditioned)
        sums[column_width<K> + c] += static_cast<double>(r) * static_cast<double>(z);
}

/// Adds up a thread's sums over its warp: value set * K + j, that of column j, goes to `to`.
template <int K, int Sets>
__device__ inline void store_column_sums(const double (&sums)[Sets * column_width<K>], double* to) {
    const int lane = static_cast<int>(threadIdx.x & 31);
#pragma unroll
    for (int s = 0; s < Sets; ++s)
#pragma unroll
        for (int c = 0; c < column_width<K>; ++c) {
            double sum = sums[s * column_width<K> + c];
#pragma unroll
            for (int distance = 16; distance >= row_lanes<K>; distance /= 2)
                sum += __shfl_xor_sync(0xffffffffu, sum, distance);
            if (lane < row_lanes<K>) to[s * K + lane * column_width<K> + c] = sum;
        }
}

/// Calls body with the number of columns as a constant.
template <class Body>
void with_columns(int columns, const Body& body) {
    switch (columns) {
    case 1: return body(std::integral_constant<int, 1>());
    case 2: return body(std::integral_constant<int, 2>());
    case 4: return body(std::integral_constant<int, 4>());
    case 8: return body(std::integral_constant<int, 8>());
    case 16: return body(std::integral_constant<int, 16>());
    default:
        throw usage_error("kernels for several columns take 1, 2, 4, 8 or 16, not " +
                          std::to_string(columns));
    }
}

} // namespace krylith::cuda
