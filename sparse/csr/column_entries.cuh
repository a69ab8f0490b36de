// How kernels for several right-hand sides divide their vectors: a thread has two neighbouring
// columns of a row. Included by .cu files only.
#pragma once

#include <cstdint>

#include <krylith/sparse/csr/column_counts.hpp>
#include <krylith/sparse/device_matrix/compressed_rows.hpp>

namespace krylith::cuda {

/// Columns of one thread: two entries of double are one load of 16 bytes.
inline constexpr int column_width = 2;

/// How neighbouring threads divide the columns of a row, whose number is a power of two from 2 to
/// max_columns. It need not be a constant: passes over vectors wait for memory, and shifts are not
/// seen beside that. The persistent kernel, which waits for other blocks, makes it from one.
class row_lanes {
public:
    __device__ explicit row_lanes(int columns) { shift_ = __ffs(columns) - 2; }

    /// Threads of a row.
    [[nodiscard]] __device__ int count() const { return 1 << shift_; }
    [[nodiscard]] __device__ int columns() const { return column_width << shift_; }
    /// The place of this thread among those of its row.
    [[nodiscard]] __device__ int lane() const {
        return static_cast<int>(threadIdx.x) & (count() - 1);
    }
    /// The first of the columns of this thread.
    [[nodiscard]] __device__ int first_column() const { return lane() * column_width; }
    /// The number of the first item of a row; items are neighbours in a row.
    [[nodiscard]] __device__ std::int64_t first_item(std::int64_t row) const {
        return row << shift_;
    }
    [[nodiscard]] __device__ std::int64_t row_of(std::int64_t item) const { return item >> shift_; }

private:
    int shift_; ///< log2 of count()
};

/// The entries of a thread's columns in one row.
template <class T>
struct alignas(sizeof(T) * column_width) column_entries {
    T at[column_width];
};

template <class T>
[[nodiscard]] __device__ inline column_entries<T> load_entries(const T* v, std::int64_t item) {
    return reinterpret_cast<const column_entries<T>*>(v)[item];
}

template <class T>
__device__ inline void store_entries(T* v, std::int64_t item, const column_entries<T>& e) {
    reinterpret_cast<column_entries<T>*>(v)[item] = e;
}

/// Adds up a thread's sums over its warp: value set * k + j, that of column j of k, goes to `to`.
template <int Sets>
__device__ inline void store_column_sums(const row_lanes& lanes,
                                         const double (&sums)[Sets * column_width], double* to) {
    const int lane = static_cast<int>(threadIdx.x & 31);
#pragma unroll
    for (int s = 0; s < Sets; ++s)
#pragma unroll
        for (int c = 0; c < column_width; ++c) {
            double sum = sums[s * column_width + c];
            for (int distance = 16; distance >= lanes.count(); distance /= 2)
                sum += __shfl_xor_sync(0xffffffffu, sum, distance);
            if (lane < lanes.count()) to[s * lanes.columns() + lane * column_width + c] = sum;
        }
}

/// Returns what entries begin, begin + stride and so on of a row, before `end`, give for the two
/// columns of this thread.
template <class T>
[[nodiscard]] __device__ inline column_entries<T>
multiply_entries(const compressed_rows<T>& a, const T* x, std::int64_t begin, std::int64_t end,
                 int stride, const row_lanes& lanes) {
    column_entries<T> sum{};
#pragma unroll 4
    for (std::int64_t at = begin; at < end; at += stride) {
        const T value = a.values[at];
        const auto e = load_entries(x, lanes.first_item(a.columns[at]) + lanes.lane());
#pragma unroll
        for (int c = 0; c < column_width; ++c) sum.at[c] += value * e.at[c];
    }
    return sum;
}

} // namespace krylith::cuda
