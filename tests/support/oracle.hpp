// Products computed in long double, with a bound on rounding.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include <krylith/matrix/csr.hpp>

namespace krylith::testing {

/// A sum with the sum of its terms' magnitudes.
struct bounded_value {
    long double value = 0;
    long double magnitude = 0;
    int terms = 0;

    void add(long double term) {
        value += term;
        magnitude += std::fabs(term);
        ++terms;
    }

    /// Whether `computed` in T may be this sum: gamma_k |terms|, with k a little more than the
    /// number of roundings (Higham, Accuracy and Stability, section 3.1), in any order, with or
    /// without fused multiply-add.
    template <class T>
    [[nodiscard]] bool allows(double computed) const {
        const long double u = std::numeric_limits<T>::epsilon() / 2.0L;
        const long double k = 2.0L * terms + 8;
        const long double bound =
            k * u / (1 - k * u) * magnitude + k * std::numeric_limits<T>::denorm_min();
        return std::fabs(static_cast<long double>(computed) - value) <= bound;
    }
};

/// Returns y = alpha A x + beta y; beta = 0 does not read y.
template <class T>
[[nodiscard]] std::vector<bounded_value>
product(const csr_matrix<T>& a, T alpha, const std::vector<T>& x, T beta, const std::vector<T>& y) {
    std::vector<bounded_value> result(static_cast<std::size_t>(a.rows));
    for (std::size_t row = 0; row < result.size(); ++row) {
        for (auto k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k) {
            const auto place = static_cast<std::size_t>(k);
            const auto column = static_cast<std::size_t>(a.column_indices[place]);
            result[row].add(static_cast<long double>(alpha) * a.values[place] * x[column]);
        }
        if (beta != T(0)) result[row].add(static_cast<long double>(beta) * y[row]);
    }
    return result;
}

/// Returns A x, each row added up in the order of its entries.
[[nodiscard]] inline std::vector<double> plain_product(const csr_matrix<double>& a,
                                                       const std::vector<double>& x) {
    std::vector<double> y(static_cast<std::size_t>(a.rows), 0);
    for (std::size_t row = 0; row < y.size(); ++row)
        for (auto k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k) {
            const auto place = static_cast<std::size_t>(k);
            y[row] += a.values[place] * x[static_cast<std::size_t>(a.column_indices[place])];
        }
    return y;
}

template <class T>
[[nodiscard]] bounded_value inner_product(const std::vector<T>& a, const std::vector<T>& b) {
    bounded_value sum;
    for (std::size_t i = 0; i < a.size(); ++i)
        sum.add(static_cast<long double>(a[i]) * static_cast<long double>(b[i]));
    return sum;
}

template <class T>
[[nodiscard]] double norm(const std::vector<T>& v) {
    long double sum = 0;
    for (const T e : v) sum += static_cast<long double>(e) * static_cast<long double>(e);
    return static_cast<double>(std::sqrt(sum));
}

/// Returns ||b - A x||_2.
template <class T>
[[nodiscard]] double residual_norm(const csr_matrix<T>& a, const std::vector<T>& b,
                                   const std::vector<T>& x) {
    long double sum = 0;
    for (std::size_t row = 0; row < b.size(); ++row) {
        long double r = b[row];
        for (auto k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k) {
            const auto place = static_cast<std::size_t>(k);
            r -= static_cast<long double>(a.values[place]) *
                 x[static_cast<std::size_t>(a.column_indices[place])];
        }
        sum += r * r;
    }
    return static_cast<double>(std::sqrt(sum));
}

} // namespace krylith::testing
