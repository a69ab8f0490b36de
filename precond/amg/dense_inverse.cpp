#include <krylith/precond/amg/dense_inverse.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include <krylith/device/language/instances.hpp>

namespace krylith::detail {

namespace {

/// Row-major.
template <class W>
std::vector<double> dense(const csr_view<W>& a) {
    const auto n = static_cast<std::size_t>(a.rows);
    std::vector<double> all(n * n, 0.0);
    for (std::size_t i = 0; i < n; ++i)
        for (auto k = static_cast<std::size_t>(a.row_offsets[i]);
             k < static_cast<std::size_t>(a.row_offsets[i + 1]); ++k)
            all[i * n + static_cast<std::size_t>(a.column_indices[k])] +=
                static_cast<double>(a.values[k]);
    return all;
}

/// A full matrix, whose values are 0.
template <class W>
csr_matrix<W> full(std::size_t n) {
    csr_matrix<W> g;
    g.rows = g.columns = static_cast<std::int64_t>(n);
    g.row_offsets.resize(n + 1);
    g.column_indices.resize(n * n);
    g.values.resize(n * n);
    for (std::size_t r = 0; r <= n; ++r) g.row_offsets[r] = static_cast<std::int64_t>(r * n);
    for (std::size_t r = 0; r < n; ++r)
        std::iota(g.column_indices.begin() + static_cast<std::ptrdiff_t>(r * n),
                  g.column_indices.begin() + static_cast<std::ptrdiff_t>((r + 1) * n), 0);
    return g;
}

/// What of 1 is lost in rounding.
template <class W>
constexpr double lost = 16 * static_cast<double>(std::numeric_limits<W>::epsilon());

/// v / |v| where A v is lost in rounding, measured by v'A v against the mean of the diagonal, else
/// nothing.
template <class W>
std::vector<double> null_vector(const std::vector<double>& a, std::span<const W> v) {
    const std::size_t n = v.size();
    std::vector<double> unit(v.begin(), v.end());
    double square = 0;
    for (const double x : unit) square += x * x;
    if (!(square > 0)) return {};
    double form = 0;
    double size = 0;
    for (std::size_t i = 0; i < n; ++i) {
        unit[i] /= std::sqrt(square);
        size += std::fabs(a[i * n + i]);
    }
    for (std::size_t i = 0; i < n; ++i) {
        double product = 0;
#pragma omp simd reduction(+ : product)
        for (std::size_t j = 0; j < n; ++j) product += a[i * n + j] * unit[j];
        form += unit[i] * product;
    }
    if (!(std::fabs(form) <= lost<W> * size / static_cast<double>(n))) return {};
    return unit;
}

/// Up to `most` neighbouring rows that are added to another at once: it is then loaded and stored
/// once for all of them.
struct row_block {
    static constexpr std::size_t most = 4;
    std::size_t first;
    std::size_t count;

    row_block(std::size_t row, std::size_t n) : first(row), count(std::min(most, n - row)) {}
    [[nodiscard]] std::size_t end() const { return first + count; }

    /// y_j += the sum of factors_b x_(first + b)j, begin <= j < end, where row i of x is x + i n.
    void add(const double (&factors)[most], const double* x, std::size_t n, std::size_t begin,
             std::size_t end, double* y) const {
        const auto row = [&](std::size_t b) { return x + (first + std::min(b, count - 1)) * n; };
        const double* const x0 = row(0);
        const double* const x1 = row(1);
        const double* const x2 = row(2);
        const double* const x3 = row(3);
#pragma omp simd
        for (std::size_t j = begin; j < end; ++j)
            y[j] +=
                factors[0] * x0[j] + factors[1] * x1[j] + (factors[2] * x2[j] + factors[3] * x3[j]);
    }
};

} // namespace

template <class W>
csr_matrix<W> dense_inverse(const csr_view<W>& a, std::span<const W> v, bool* indefinite) {
    const auto n = static_cast<std::size_t>(a.rows);
    std::vector<double> u = dense(a); // A, then D L' on and above the diagonal
    const std::vector<double> null = null_vector<W>(u, v);
    double weight = 0; // of v v', which makes A regular; the mean of the diagonal
    if (!null.empty()) {
        for (std::size_t i = 0; i < n; ++i) weight += u[i * n + i] / static_cast<double>(n);
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < n; ++j) u[i * n + j] += weight * null[i] * null[j];
    }
    std::vector<double> before(n);
    for (std::size_t i = 0; i < n; ++i) before[i] = u[i * n + i];
    std::vector<double> inverse_pivot(n); // 0 where a pivot is lost in rounding
    bool negative = false;
    std::vector<double> y(n * n, 0.0); // row r: row r of L^-1, which is 0 behind r
    for (std::size_t k = 0; k < n; k += row_block::most) {
        const row_block pivots(k, n);
        // Takes the first `known` pivots out of row i.
        const auto eliminate = [&](std::size_t i, std::size_t known) {
            double factors[row_block::most] = {}; // -L_ik
            for (std::size_t b = 0; b < known; ++b)
                factors[b] = -u[(k + b) * n + i] * inverse_pivot[k + b];
            pivots.add(factors, u.data(), n, i, n, &u[i * n]);
            pivots.add(factors, y.data(), n, 0, pivots.end(), &y[i * n]);
        };
        for (std::size_t b = 0; b < pivots.count; ++b) {
            const std::size_t i = k + b;
            if (b != 0) eliminate(i, b);
            const double pivot = u[i * n + i];
            const double rounding = lost<W> * std::fabs(before[i]);
            inverse_pivot[i] = pivot > rounding ? 1 / pivot : 0;
            negative = negative || pivot < -rounding;
            y[i * n + i] = 1;
        }
        for (std::size_t i = pivots.end(); i < n; ++i) eliminate(i, pivots.count);
    }
    if (indefinite != nullptr) *indefinite = negative;

    // G = L'^-1 D^+ L^-1, the sum of y_k' y_k / D_k over the rows of L^-1.
    std::vector<double>& sum = u; // up to the diagonal
    std::ranges::fill(sum, 0.0);
    for (std::size_t k = 0; k < n; k += row_block::most) {
        const row_block rows(k, n);
        for (std::size_t r = 0; r < rows.end(); ++r) {
            double factors[row_block::most] = {};
            for (std::size_t b = 0; b < rows.count; ++b)
                factors[b] = y[(k + b) * n + r] * inverse_pivot[k + b];
            rows.add(factors, y.data(), n, 0, r + 1, &sum[r * n]);
        }
    }
    csr_matrix<W> g = full<W>(n);
    for (std::size_t r = 0; r < n; ++r)
        for (std::size_t c = 0; c <= r; ++c) {
            double entry = sum[r * n + c];
            if (!null.empty()) entry -= null[r] * null[c] / weight;
            g.values[r * n + c] = g.values[c * n + r] = static_cast<W>(entry);
        }
    return g;
}

template <class W>
csr_matrix<W> general_inverse(const csr_view<W>& a) {
    const auto n = static_cast<std::size_t>(a.rows);
    std::vector<double> u = dense(a); // [A | I] becomes [I | G] by Gauss and Jordan
    std::vector<double> g(n * n, 0.0);
    for (std::size_t i = 0; i < n; ++i) g[i * n + i] = 1;
    std::vector<std::size_t> place(n); // the column that the pivot of a row stands in
    for (std::size_t c = 0; c < n; ++c) place[c] = c;
    std::size_t rank = 0;
    double first = 0;
    for (; rank < n; ++rank) {
        std::size_t row = rank;
        std::size_t column = rank;
        double most = 0;
        for (std::size_t i = rank; i < n; ++i)
            for (std::size_t j = rank; j < n; ++j)
                if (std::fabs(u[i * n + place[j]]) > most) {
                    most = std::fabs(u[i * n + place[j]]);
                    row = i;
                    column = j;
                }
        if (rank == 0) first = most;
        if (!(most > lost<W> * first)) break;
        std::swap(place[rank], place[column]);
        for (std::size_t j = 0; j < n; ++j) {
            std::swap(u[rank * n + j], u[row * n + j]);
            std::swap(g[rank * n + j], g[row * n + j]);
        }
        const double pivot = u[rank * n + place[rank]];
        for (std::size_t j = 0; j < n; ++j) {
            u[rank * n + j] /= pivot;
            g[rank * n + j] /= pivot;
        }
        for (std::size_t i = 0; i < n; ++i) {
            const double factor = u[i * n + place[rank]];
            if (i == rank || factor == 0) continue;
            for (std::size_t j = 0; j < n; ++j) {
                u[i * n + j] -= factor * u[rank * n + j];
                g[i * n + j] -= factor * g[rank * n + j];
            }
        }
    }
    csr_matrix<W> result = full<W>(n);
    for (std::size_t i = 0; i < rank; ++i)
        for (std::size_t j = 0; j < n; ++j)
            result.values[place[i] * n + j] = static_cast<W>(g[i * n + j]);
    return result;
}

#define KRYLITH_INSTANTIATE(T) template struct instances<dense_inverse<T>, general_inverse<T>>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::detail
