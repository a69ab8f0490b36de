// Products of SELL blocks beside sums in the order of the rows, bit for bit.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <krylith/spmv/matrix_operator.hpp>

#include <krylith/tests/support/operator_product.hpp>
#include <krylith/tests/support/patterns.hpp>
#include <krylith/tests/support/random.hpp>

namespace krylith::testing {

/// The largest narrow fraction of a device.
template <class T>
double narrow_fraction(const matrix_operator<T>& a) {
    double fraction = 0;
    for (int rank = 0; rank < a.layout()->comm.ranks(); ++rank)
        fraction = std::max(fraction, a.block(rank).narrow_fraction());
    return fraction;
}

/// A value for each diagonal, as stencils have.
template <class T>
std::vector<T> values_by_diagonal(const pattern& p) {
    std::vector<T> values;
    for (std::int64_t row = 0; row < p.rows(); ++row)
        for (auto k = p.offsets[static_cast<std::size_t>(row)];
             k < p.offsets[static_cast<std::size_t>(row) + 1]; ++k) {
            const std::int64_t diagonal = p.indices[static_cast<std::size_t>(k)] - row;
            values.push_back(static_cast<T>(std::sin(0.1 * static_cast<double>(diagonal) + 1)));
        }
    return values;
}

/// Whether the product has the sums in the order of the rows, rounded as one thread rounds them.
template <class T>
bool right(const matrix_operator<T>& a, const pattern& p, const std::vector<T>& values) {
    const auto x = random_values<T>(p.rows(), 71);
    const auto y = product(a, x);
    if (y.size() != x.size()) return false;
    if (a.format_name() != "sell") return true; // another format has its own order of sums
    for (std::size_t row = 0; row < y.size(); ++row) {
        T sum = 0;
        for (auto k = static_cast<std::size_t>(p.offsets[row]);
             k < static_cast<std::size_t>(p.offsets[row + 1]); ++k)
            sum = std::fma(values[k], x[static_cast<std::size_t>(p.indices[k])], sum);
        if (y[row] != sum && !(std::isnan(y[row]) && std::isnan(sum))) return false;
    }
    return true;
}

} // namespace krylith::testing
