#include <krylith/bench/sparse/spgemm_check.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include <fmt/format.h>

#include <krylith/bench/common/measurement_failed.hpp>

namespace krylith::bench {

namespace {

using numbers = std::vector<long double>;

std::size_t at(std::int64_t i) {
    return static_cast<std::size_t>(i);
}

/// Numbers in [-1, 1) without a pattern.
numbers some_numbers(std::int64_t count) {
    numbers x(at(count));
    std::uint32_t state = 1;
    for (long double& v : x) {
        state = state * 1664525u + 1013904223u;
        v = static_cast<long double>(state) / 0x1p31L - 1;
    }
    return x;
}

/// A x, or |A| x.
template <class T>
numbers product(const csr_matrix<T>& a, const numbers& x, bool magnitudes) {
    numbers y(at(a.rows));
    const std::int64_t rows = a.rows;
#pragma omp parallel for
    for (std::int64_t i = 0; i < rows; ++i)
        for (std::size_t k = at(a.row_offsets[at(i)]); k < at(a.row_offsets[at(i) + 1]); ++k)
            y[at(i)] += (magnitudes ? std::fabs(static_cast<long double>(a.values[k]))
                                    : static_cast<long double>(a.values[k])) *
                        x[at(a.column_indices[k])];
    return y;
}

/// The columns of a row of A B.
template <class T>
std::vector<std::int32_t> plain_row(const csr_matrix<T>& a, const csr_matrix<T>& b, std::size_t i) {
    std::vector<std::int32_t> columns;
    for (std::size_t k = at(a.row_offsets[i]); k < at(a.row_offsets[i + 1]); ++k) {
        const std::size_t from = at(a.column_indices[k]);
        columns.insert(columns.end(), b.column_indices.begin() + b.row_offsets[from],
                       b.column_indices.begin() + b.row_offsets[from + 1]);
    }
    std::ranges::sort(columns);
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    return columns;
}

} // namespace

template <class T>
double check_matrix_product(const csr_matrix<T>& a, const csr_matrix<T>& b,
                            const device_csr<T>& result) {
    const csr_matrix<T> c = result.download();
    if (c.rows != a.rows || c.columns != b.columns)
        throw measurement_failed(fmt::format("spgemm: C is {} x {}", c.rows, c.columns));
    if (!canonical(c)) throw measurement_failed("spgemm: columns of C don't ascend");
    const std::int64_t step = std::max<std::int64_t>(1, c.rows / 200);
    for (std::int64_t i = 0; i < c.rows; i += step) {
        const std::vector<std::int32_t> expected = plain_row(a, b, at(i));
        if (!std::equal(expected.begin(), expected.end(),
                        c.column_indices.begin() + c.row_offsets[at(i)],
                        c.column_indices.begin() + c.row_offsets[at(i) + 1]))
            throw measurement_failed(fmt::format("spgemm: row {} of C has wrong columns", i));
    }
    const numbers x = some_numbers(b.columns);
    numbers sizes = x;
    for (long double& v : sizes) v = std::fabs(v);
    const numbers expected = product(a, product(b, x, false), false);
    const numbers magnitudes = product(a, product(b, sizes, true), true);
    const numbers found = product(c, x, false);
    double worst = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        const long double difference = std::fabs(found[i] - expected[i]);
        if (!(difference <= magnitudes[i])) // so that NaN is found, too
            throw measurement_failed(fmt::format("spgemm: row {} of C x is wrong", i));
        if (difference != 0)
            worst = std::max(worst, static_cast<double>(difference / magnitudes[i]));
    }
    // A sum of n products is off by at most n + 1 roundings; no row has this many in one entry.
    const double bound = 1e4 * std::numeric_limits<T>::epsilon();
    if (worst > bound) throw measurement_failed(fmt::format("spgemm: C x is off by {:.1e}", worst));
    return worst;
}

template double check_matrix_product(const csr_matrix<double>&, const csr_matrix<double>&,
                                     const device_csr<double>&);
template double check_matrix_product(const csr_matrix<float>&, const csr_matrix<float>&,
                                     const device_csr<float>&);

} // namespace krylith::bench
