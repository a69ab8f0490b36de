// Rows of a CSR block times a vector, on one thread.
#pragma once

#include <cstdint>

namespace krylith::host {

template <class T, class Offset>
struct csr_arrays {
    const Offset* offsets; ///< [rows + 1]
    const std::int32_t* columns;
    const T* values;
};

/// A row of a fixed length, in `Sums` partial sums to shorten the chain of additions.
template <int Length, int Sums, class T>
[[nodiscard]] inline T row_product(const std::int32_t* columns, const T* values, const T* x) {
    T sums[Sums] = {};
#pragma GCC unroll 32
    for (int k = 0; k < Length; ++k)
        sums[k % Sums] += values[k] * x[columns[k]];
    T sum = sums[0];
    for (int s = 1; s < Sums; ++s)
        sum += sums[s];
    return sum;
}

template <class T>
[[nodiscard]] inline T row_product(const std::int32_t* columns, const T* values, const T* x,
                                   std::int64_t length) {
    switch (length) { // the usual stencils
    case 5:
        return row_product<5, 2>(columns, values, x);
    case 7:
        return row_product<7, 2>(columns, values, x);
    case 9:
        return row_product<9, 2>(columns, values, x);
    case 27:
        return row_product<27, 4>(columns, values, x);
    default:
        break;
    }
    T sum{};
    std::int64_t k = 0;
    for (; k + 8 <= length; k += 8)
        sum += row_product<8, 4>(columns + k, values + k, x);
    for (; k < length; ++k)
        sum += values[k] * x[columns[k]];
    return sum;
}

/// y = alpha A x + beta y for rows [begin, end); y is not read where beta is 0.
template <class T, class Offset>
void multiply_rows(const csr_arrays<T, Offset>& a, const T* x, T* y, T alpha, T beta,
                   std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
        const Offset first = a.offsets[i];
        const T sum = row_product(a.columns + first, a.values + first, x,
                                  static_cast<std::int64_t>(a.offsets[i + 1] - first));
        y[i] = beta == T{0} ? alpha * sum : alpha * sum + beta * y[i];
    }
}

} // namespace krylith::host
