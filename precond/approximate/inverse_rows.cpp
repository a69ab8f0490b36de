#include <krylith/precond/approximate/inverse_rows.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <krylith/device/host/host_device.hpp>
#include <krylith/device/loops/shared_numbers.hpp>
#include <krylith/device/loops/visit_rows.hpp>

namespace krylith::detail {

namespace {

/// The system of a row, of which the lower triangle counts.
template <class T>
struct small_system {
    int size = 0;
    T m[longest_row][longest_row];
    T x[longest_row];

    /// Factors it by Cholesky's method and solves; false where it is not positive definite, or has
    /// a pivot of at most `least` of its diagonal.
    [[nodiscard]] bool solve(T least) {
        T bound[longest_row];
        for (int k = 0; k < size; ++k) bound[k] = least * m[k][k];
        for (int k = 0; k < size; ++k) {
            if (!(m[k][k] > bound[k]) || !(m[k][k] > T(0))) return false;
            const T inverse = T(1) / std::sqrt(m[k][k]);
            for (int i = k; i < size; ++i) m[i][k] *= inverse;
            x[k] *= inverse;
            for (int i = k + 1; i < size; ++i) {
                x[i] -= m[i][k] * x[k];
                for (int j = k + 1; j <= i; ++j) m[i][j] -= m[i][k] * m[j][k];
            }
        }
        for (int i = size - 1; i >= 0; --i) {
            x[i] /= m[i][i];
            for (int k = 0; k < i; ++k) x[k] -= m[i][k] * x[i];
        }
        return true;
    }
};

/// Line p of A(P, P), up to the diagonal.
template <class T>
void take_line(const inverse_rows<T>& g, std::int64_t first, int p, small_system<T>& s) {
    const std::int32_t local = g.indices[first + p];
    std::fill_n(s.m[p], p + 1, T(0));
    int q = 0;
    for (std::int64_t k = g.a.offsets[local]; k < g.a.offsets[local + 1]; ++k) {
        const std::int32_t column = g.a.columns[k];
        while (q <= p && g.columns.global(g.indices[first + q]) < column) ++q;
        if (q > p) break;
        if (g.columns.global(g.indices[first + q]) == column) s.m[p][q] = g.a.values[k];
    }
}

/// Returns the largest magnitude of the row's values, not a number where there are none.
template <class T>
T solve_row(const inverse_rows<T>& g, std::int64_t row) {
    small_system<T> s;
    const std::int64_t first = g.offsets[row];
    s.size = static_cast<int>(g.offsets[row + 1] - first);
    const std::int32_t own = g.columns.below + static_cast<std::int32_t>(row);
    for (int p = 0; p < s.size; ++p) {
        const std::int32_t local = g.indices[first + p];
        if (g.least_squares) {
            for (int q = 0; q <= p; ++q)
                s.m[p][q] = product_of_rows(g.a, local, g.indices[first + q]);
            s.x[p] = entry_of_row(g.a, local, g.columns.global(own));
        } else {
            take_line(g, first, p, s);
            s.x[p] = p + 1 == s.size ? T(1) : T(0);
        }
    }
    bool good = s.size > 0 && s.solve(g.least_squares ? dependent_rows<T> : T(0));
    T largest = 0;
    const T scale = good && !g.least_squares ? T(1) / std::sqrt(s.x[s.size - 1]) : T(1);
    for (int p = 0; p < s.size && good; ++p) {
        const T value = s.x[p] * scale;
        good = good && std::isfinite(value);
        largest = std::max(largest, std::fabs(value));
        g.values[first + p] = value;
    }
    return good ? largest : std::numeric_limits<T>::quiet_NaN();
}

} // namespace

} // namespace krylith::detail

namespace krylith::host {

template <class T>
void solve_inverse_rows(device& device, const detail::inverse_rows<T>& g,
                        inversion_report* report) {
    in_ranges(device, g.rows, [=](std::int64_t begin, std::int64_t end) {
        T largest = 0;
        for (std::int64_t row = begin; row < end; ++row) {
            const T of_row = detail::solve_row(g, row);
            if (std::isnan(of_row))
                raise_shared(&report->bad, ~static_cast<std::uint64_t>(row));
            else
                largest = std::max(largest, of_row);
        }
        if (largest > T(0))
            raise_shared(
                &report->exponent,
                static_cast<std::uint64_t>(std::ilogb(largest) + inversion_report::exponent_bias));
    });
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void solve_inverse_rows(device&, const detail::inverse_rows<T>&, inversion_report*);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::host
