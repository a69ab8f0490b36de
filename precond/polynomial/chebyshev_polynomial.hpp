// The polynomials of Chebyshev preconditioning, as sums of Chebyshev polynomials. Host arithmetic
// in double.
#pragma once

#include <vector>

namespace krylith {

enum class chebyshev_kind {
    first, ///< smallest largest error on an interval [lambda / ratio, lambda]: for CG
    fourth ///< smallest error of a smoother on (0, lambda], with no lower end to choose
};

/// p(t) = sum of coefficients[j] T_j((center - t) / radius) for 0 < t <= lambda, where T_j are the
/// Chebyshev polynomials of the first kind. p is of degree D - 1, positive there, and near 1 / t.
struct chebyshev_series {
    double center = 0;
    double radius = 1;
    std::vector<double> coefficients; ///< [degree]

    [[nodiscard]] double operator()(double t) const;
};

/// Returns the polynomial whose residual 1 - t p(t) of degree D is T_D(x(t)) / T_D(x(0)) on
/// [lambda / ratio, lambda] (first kind; Saad, Iterative Methods, 2nd ed., section 12.3), or
/// W_D(1 - 2 t / lambda) / (2 D + 1) (fourth kind; Lottes, arXiv 2202.08830; Phillips and Fischer,
/// arXiv 2210.03179). `ratio` > 1 has no meaning for the fourth kind. O(degree^2).
[[nodiscard]] chebyshev_series make_chebyshev_series(chebyshev_kind kind, int degree, double lambda,
                                                     double ratio);

} // namespace krylith
