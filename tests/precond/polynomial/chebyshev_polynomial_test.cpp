// The polynomials of Chebyshev preconditioning against the recurrences that define them.
#include <cmath>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/polynomial/chebyshev_polynomial.hpp>
#include <krylith/precond/polynomial/scaled_matrix.hpp>

#include <krylith/tests/support/matrices.hpp>

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

TEST_CASE("chebyshev scaling: Gershgorin's bound, S and the shifted matrix") {
    const auto a = testing::from_dense({{4, -2, 0}, {-2, 16, -3}, {0, -3, 1}});
    const diagonal_scaling d = scale_by_diagonal(csr_view<double>(a), 0.0);
    CHECK(d.lambda == 4); // row 2: 1 + 3 / 1
    CHECK(d.exponent == 0);
    CHECK(d.s == std::vector<double>{0.5, 0.25, 1});
    const auto x = shifted_values<double>(csr_view<double>(a), d, 2.0, 0.5);
    const std::vector<double> expected = {2, 0.5, 0.5, 2, 1.5, 1.5, 2};
    CHECK(x == expected);

    auto large = a;
    for (double& v : large.values) v = std::ldexp(v, 700);
    const diagonal_scaling e = scale_by_diagonal(csr_view<double>(large), 0x1p-125);
    CHECK(e.s == d.s);
    CHECK(e.lambda == d.lambda);
    CHECK(e.exponent == -700);
    CHECK(shifted_values<double>(csr_view<double>(large), e, 2.0, 0.5) == x);
    for (double& v : large.values) v = std::ldexp(v, -1401); // an odd exponent
    const diagonal_scaling f = scale_by_diagonal(csr_view<double>(large), 0x1p-125);
    CHECK(f.exponent == 700);
    CHECK(std::fabs(f.s[2] - std::sqrt(2.0)) <= 1e-15);
    const auto y = shifted_values<double>(csr_view<double>(large), f, 2.0, 0.5);
    for (std::size_t k = 0; k < y.size(); ++k) CHECK(std::fabs(y[k] - x[k]) <= 1e-14);
}

TEST_CASE("chebyshev scaling: a diagonal that it can't take is refused by its row") {
    const auto refuses = [](std::vector<double> diagonal, const char* words) {
        CHECK_THROWS_WITH_AS(
            (void)scale_by_diagonal(csr_view<double>(testing::diagonal_matrix(diagonal)), 0x1p-125),
            doctest::Contains(words), input_error);
    };
    refuses({1, -2, 3}, "the diagonal entry of row 1 (counted from 0) is -2");
    refuses({1, 2, std::numeric_limits<double>::infinity()}, "row 2 (counted from 0) is inf");
    refuses({std::nan(""), 1}, "row 0 (counted from 0) is nan");
    refuses({1, 1e80}, "row 1 (counted from 0) is 1e+80; too far above the smallest, 1, for fp32");
    const auto missing = testing::from_dense({{1, 1}, {1, 0}});
    CHECK_THROWS_WITH_AS((void)scale_by_diagonal(csr_view<double>(missing), 0.0),
                         doctest::Contains("row 1 (counted from 0) is 0"), input_error);
    const auto overflow = testing::from_dense({{1e-200, 1e200}, {1e200, 1}});
    CHECK_THROWS_WITH_AS((void)scale_by_diagonal(csr_view<double>(overflow), 0.0),
                         doctest::Contains("the sum of |a_ij| / a_ii of row 0"), input_error);
}

} // namespace krylith
