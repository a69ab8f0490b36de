// ||b - A x|| in extended precision, and how far rounding may take a residual from it.
//
// A solve may say "converged" where the residual that a product gives is small enough. Where its
// rounding is larger than what was asked for, that residual tells nothing, and the one in doubled
// precision has to be small enough.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include <krylith/matrix/csr.hpp>

namespace random_systems {

struct verdict {
    bool finite = true;       ///< all entries of x
    long double residual = 0; ///< ||b - A x||_2
    long double rhs = 0;      ///< ||b||_2
    long double rounding = 0; ///< 4 (k + 2) eps || |A||x| + |b| ||_2, k nonzeros in the longest row
    long double doubled = 0;  ///< the same with the eps of doubled precision, but not of less than
                              ///< the judge has

    /// The largest residual of an x of which a solve may say that it is small enough.
    [[nodiscard]] long double allowed(long double target) const {
        return target + (rounding > target ? doubled : rounding);
    }
};

/// Computes the residual with A, b and x as stored. The exponents of long double hold squares of
/// any product.
template <class T>
[[nodiscard]] verdict check_convergence(const krylith::csr_matrix<T>& a, const std::vector<T>& b,
                                        const std::vector<T>& x) {
    static_assert(std::numeric_limits<long double>::max_exponent > 16000);
    verdict v;
    long double rr = 0, bb = 0, sizes = 0;
    std::int64_t longest = 0;
    for (const T value : x) v.finite = v.finite && std::isfinite(value);
    for (std::size_t row = 0; row < b.size(); ++row) {
        const auto begin = static_cast<std::size_t>(a.row_offsets[row]);
        const auto end = static_cast<std::size_t>(a.row_offsets[row + 1]);
        const long double rhs = b[row];
        long double r = rhs, size = std::fabs(rhs);
        for (std::size_t k = begin; k < end; ++k) {
            const auto column = static_cast<std::size_t>(a.column_indices[k]);
            const long double term = static_cast<long double>(a.values[k]) * x[column];
            r -= term;
            size += std::fabs(term);
        }
        longest = std::max(longest, static_cast<std::int64_t>(end - begin));
        rr += r * r;
        bb += rhs * rhs;
        sizes += size * size;
    }
    v.residual = std::sqrt(rr);
    v.rhs = std::sqrt(bb);
    const long double unit = 4 * static_cast<long double>(longest + 2) * std::sqrt(sizes);
    v.rounding = unit * std::numeric_limits<T>::epsilon();
    v.doubled = unit * (sizeof(T) == 4 ? std::numeric_limits<double>::epsilon()
                                       : std::numeric_limits<long double>::epsilon());
    return v;
}

} // namespace random_systems
