// The results of all product kernels, from the sums of rows.
#pragma once

#include <krylith/spmspv/kernels/kernel_arithmetic.hpp>
#include <krylith/spmspv/product.hpp>

namespace krylith::cuda {

/// Writes y[row] from the sum of the row.
template <class S>
struct result_rows {
    using T = typename S::value_type;
    T* y;
    T alpha;
    T beta;
    const std::uint32_t* skip_rows; ///< bits of rows that have no entry

    __device__ void before_writing() const {}
    __device__ void row(std::int64_t row, T sum) const {
        T result = sum;
        if constexpr (spmspv::scales<S>) {
            result = alpha * sum;
            if (beta != T(0)) result += beta * y[row];
        }
        if (skip_rows != nullptr && spmspv::has_bit(skip_rows, static_cast<std::uint32_t>(row)))
            result = S::absent();
        y[row] = result;
    }
};

} // namespace krylith::cuda
