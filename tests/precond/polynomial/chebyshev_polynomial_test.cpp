// The polynomials of Chebyshev preconditioning against the recurrences that define them.
#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/precond/polynomial/chebyshev_polynomial.hpp>

namespace krylith {

namespace {

/// f_degree(x) by f_(k+1) = 2 x f_k - f_(k-1) from f_0 = 1 and f_1.
double by_recurrence(int degree, double x, double f1) {
    double before = 1;
    double now = f1;
    if (degree == 0) return before;
    for (int k = 1; k < degree; ++k) {
        const double next = 2 * x * now - before;
        before = now;
        now = next;
    }
    return now;
}

} // namespace

TEST_CASE("chebyshev polynomial: 1 - t p(t) is the residual polynomial of its kind") {
    constexpr double lambda = 1.75;
    for (const int degree : {1, 2, 3, 4, 7, 8, 16, 33, 100})
        for (const double ratio : {1.01 + 0.25 * degree * degree, 400.0, 1e6}) {
            CAPTURE(degree);
            CAPTURE(ratio);
            const auto first = make_chebyshev_series(chebyshev_kind::first, degree, lambda, ratio);
            const auto fourth =
                make_chebyshev_series(chebyshev_kind::fourth, degree, lambda, ratio);
            CHECK(first.coefficients.size() == static_cast<std::size_t>(degree));
            const double x0 = (ratio + 1) / (ratio - 1);
            for (double t = lambda / 4096; t <= lambda; t += lambda / 4096) {
                const double x = (first.center - t) / first.radius;
                const double expected = by_recurrence(degree, x, x) / by_recurrence(degree, x0, x0);
                REQUIRE(std::fabs(1 - t * first(t) - expected) <= 1e-9);
                const double y = 1 - 2 * t / lambda;
                REQUIRE(std::fabs(1 - t * fourth(t) -
                                  by_recurrence(degree, y, 2 * y + 1) / (2 * degree + 1)) <= 1e-9);
                REQUIRE(first(t) > 0);
                REQUIRE(fourth(t) > 0);
            }
        }
}

} // namespace krylith
