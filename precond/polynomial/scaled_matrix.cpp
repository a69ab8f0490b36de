#include <krylith/precond/polynomial/scaled_matrix.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>

#include <krylith/device/error.hpp>
#include <krylith/device/messages/number_text.hpp>

namespace krylith {

namespace {

constexpr auto none = std::numeric_limits<std::int64_t>::max();

[[noreturn]] void refuse_row_sum(const std::string& what, std::int64_t row, double value,
                                 const std::string& allowed) {
    throw input_error("Chebyshev preconditioner: " + what + " of row " + std::to_string(row) +
                      " (counted from 0) is " + number_text(value) + "; " + allowed);
}

/// The sums of |a_ij| and of a_ii in a row. A sum of a_ij / a_ii overflows where one of a_ij may
/// not.
template <class T>
struct row_sums {
    double diagonal = 0;
    double ratio = 0; ///< sum of |a_ij| / a_ii

    row_sums(const csr_view<T>& a, std::int64_t row) {
        const auto begin = static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(row)]);
        const auto end = static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(row) + 1]);
        for (std::size_t k = begin; k < end; ++k)
            if (a.column_indices[k] == row) diagonal += static_cast<double>(a.values[k]);
        double others = 0;
        for (std::size_t k = begin; k < end; ++k)
            if (a.column_indices[k] != row)
                others += std::fabs(static_cast<double>(a.values[k]) / diagonal);
        ratio = 1 + others;
    }
};

} // namespace

template <class T>
diagonal_scaling scale_by_diagonal(const csr_view<T>& matrix, double least) {
    const std::int64_t n = matrix.rows;
    diagonal_scaling result;
    result.s.resize(static_cast<std::size_t>(n));
    double lambda = 0;
    double smallest = std::numeric_limits<double>::infinity();
    std::int64_t bad = none;
#pragma omp parallel for reduction(max : lambda) reduction(min : smallest, bad)
    for (std::int64_t row = 0; row < n; ++row) {
        const row_sums<T> sums(matrix, row);
        const bool good = sums.diagonal > 0 && std::isfinite(sums.diagonal) &&
                          std::isfinite(1 / sums.diagonal) && std::isfinite(sums.ratio);
        if (!good) bad = std::min(bad, row);
        lambda = std::max(lambda, sums.ratio);
        smallest = std::min(smallest, sums.diagonal);
        result.s[static_cast<std::size_t>(row)] = sums.diagonal;
    }
    if (bad != none) {
        const row_sums<T> sums(matrix, bad);
        if (!(sums.diagonal > 0 && std::isfinite(sums.diagonal) &&
              std::isfinite(1 / sums.diagonal)))
            refuse_row_sum("the diagonal entry", bad, sums.diagonal,
                           "allowed are positive entries with a finite inverse. Solve without it");
        refuse_row_sum("the sum of |a_ij| / a_ii", bad, sums.ratio, "it must be finite");
    }
    if (n == 0) return result;
    result.lambda = lambda;
    const int exponent = std::ilogb(1 / smallest);
    result.exponent = exponent - (exponent & 1); // the even number at or below it
    std::int64_t small = none;
#pragma omp parallel for reduction(min : small)
    for (std::int64_t row = 0; row < n; ++row) {
        double& s = result.s[static_cast<std::size_t>(row)];
        s = std::sqrt(std::ldexp(1 / s, -result.exponent));
        if (s < least) small = std::min(small, row);
    }
    if (small != none)
        refuse_row_sum("the diagonal entry", small, row_sums<T>(matrix, small).diagonal,
                       "too far above the smallest, " + number_text(smallest) +
                           ", for fp32. Allowed for such matrices is precision=fp64");
    return result;
}

template <class W, class T>
std::vector<W> shifted_values(const csr_view<T>& matrix, const diagonal_scaling& scaling,
                              double center, double radius) {
    std::vector<W> values(matrix.values.size());
#pragma omp parallel for
    for (std::int64_t row = 0; row < matrix.rows; ++row) {
        const auto i = static_cast<std::size_t>(row);
        double shift = center;
        for (auto k = static_cast<std::size_t>(matrix.row_offsets[i]);
             k < static_cast<std::size_t>(matrix.row_offsets[i + 1]); ++k) {
            const auto column = static_cast<std::size_t>(matrix.column_indices[k]);
            // Of s_i s_j a_ij and s_i s_j 2^exponent one product is moderate in any case.
            const double both = scaling.s[i] * scaling.s[column];
            double entry =
                std::ldexp(both * static_cast<double>(matrix.values[k]), scaling.exponent);
            if (column == i) {
                entry = shift - entry;
                shift = 0;
            } else {
                entry = -entry;
            }
            values[k] = static_cast<W>(entry / radius);
        }
    }
    return values;
}

template std::vector<float> shifted_values(const csr_view<float>&, const diagonal_scaling&, double,
                                           double);
#define KRYLITH_INSTANTIATE(T)                                                                     \
    template diagonal_scaling scale_by_diagonal(const csr_view<T>&, double);                       \
    template std::vector<T> shifted_values(const csr_view<double>&, const diagonal_scaling&,       \
                                           double, double);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
