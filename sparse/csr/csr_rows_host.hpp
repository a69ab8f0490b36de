// Products of rows of a CSR block with a vector, on one thread.
#pragma once

#include <cmath>
#include <cstdint>

#include <krylith/sparse/csr/fetch_ahead.hpp>
#include <krylith/sparse/csr/gathered_rows_host.hpp>

namespace krylith::host {

template <class T, class Offset>
struct csr_arrays {
    const Offset* offsets; ///< [rows + 1]
    const std::int32_t* columns;
    const T* values;
};

/// sum + a b, rounded once where processors can: compilers, left to themselves, fuse the same sum
/// in one place and not in another, and rows would have other bits where they are multiplied in
/// another way (row_runs.cpp).
template <class T>
[[nodiscard]] inline T plus_product(T sum, T a, T b) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
    return std::fma(a, b, sum);
#else
    return sum + a * b;
#endif
}

/// The product of Length entries of a row, in two sums to shorten the chain of additions. With more
/// sums compilers gather x by vector instructions, which take longer than single loads.
template <int Length, class T>
[[nodiscard]] inline T part_product(const std::int32_t* columns, const T* values, const T* x) {
    T even{};
    T odd{};
#ifndef __CUDACC__ // nvcc doesn't know it
#pragma GCC unroll 16
#endif
    for (int k = 0; k + 1 < Length; k += 2) {
        even = plus_product(even, values[k], x[columns[k]]);
        odd = plus_product(odd, values[k + 1], x[columns[k + 1]]);
    }
    if constexpr (Length % 2 != 0)
        even = plus_product(even, values[Length - 1], x[columns[Length - 1]]);
    return even + odd;
}

template <class T>
[[nodiscard]] inline T row_product(const std::int32_t* columns, const T* values, const T* x,
                                   std::int64_t length) {
    fetch_ahead(columns, values);
    switch (length) { // the usual stencils in two and three dimensions
    case 5: return part_product<5>(columns, values, x);
    case 7: return part_product<7>(columns, values, x);
    default: break;
    }
    constexpr int step = 8; // a cache line of values
    T sum{};
    while (length >= step) {
        sum += part_product<step>(columns, values, x);
        columns += step;
        values += step;
        length -= step;
        fetch_ahead(columns, values);
    }
    T even{};
    T odd{};
    for (std::int64_t k = 0; k + 1 < length; k += 2) {
        even = plus_product(even, values[k], x[columns[k]]);
        odd = plus_product(odd, values[k + 1], x[columns[k + 1]]);
    }
    if (length % 2 != 0) even = plus_product(even, values[length - 1], x[columns[length - 1]]);
    return sum + (even + odd);
}

/// Computes y = alpha A x + beta y for rows [begin, end), the first of which is y[0]; y is not read
/// where beta is 0.
template <class T, class Offset>
void multiply_rows(const csr_arrays<T, Offset>& a, const T* x, T* y, T alpha, T beta,
                   std::int64_t begin, std::int64_t end) {
    const auto finish = [&](T sum, T& to) {
        to = beta == T{0} ? alpha * sum : plus_product(alpha * sum, beta, to);
    };
    [[maybe_unused]] const bool by_gathers = gathers();
    for (std::int64_t i = begin; i < end;) {
        std::int64_t behind = end;
        if constexpr (built_with_gathers)
            if (by_gathers && end - i >= gathered_rows) {
                behind = i + gathered_rows;
                const Offset* const offsets = a.offsets + i;
                T sums[gathered_rows];
                if (may_gather(offsets) &&
                    gather_rows(offsets, a.columns + offsets[0], a.values + offsets[0], x, sums))
                    for (int r = 0; i < behind; ++r, ++i) finish(sums[r], y[i - begin]);
            }
        for (; i < behind; ++i) {
            const Offset first = a.offsets[i];
            finish(row_product(a.columns + first, a.values + first, x,
                               static_cast<std::int64_t>(a.offsets[i + 1] - first)),
                   y[i - begin]);
        }
    }
}

} // namespace krylith::host
