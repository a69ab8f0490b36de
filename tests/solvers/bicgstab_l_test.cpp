// BiCGStab(l) against a dense run of the same recurrences, and where BiCGStab is slow.
#include <algorithm>
#include <cmath>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>

#include <krylith/tests/support/dense.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/own_preconditioners.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith {

using testing::describe;
using testing::method;
using testing::name_of;
using testing::problem;
using testing::random_values;

namespace {

/// The residual norms after each cycle of l steps. The polynomial comes from a QR factorisation,
/// where the solver makes its vectors orthogonal one by one.
std::vector<double> bicgstab_l_residuals(const Eigen::MatrixXd& a, const Eigen::VectorXd& b, int l,
                                         int cycles) {
    const auto n = a.rows();
    Eigen::MatrixXd r = Eigen::MatrixXd::Zero(n, l + 1);
    Eigen::MatrixXd u = Eigen::MatrixXd::Zero(n, l + 1);
    r.col(0) = b;
    double rho = 1;
    double alpha = 0;
    double omega = 1;
    std::vector<double> residuals = {b.norm()};
    for (int cycle = 0; cycle < cycles; ++cycle) {
        rho *= -omega;
        for (int j = 0; j < l; ++j) {
            const double coming = r.col(j).dot(b);
            const double beta = alpha * coming / rho;
            rho = coming;
            for (int i = 0; i <= j; ++i) u.col(i) = r.col(i) - beta * u.col(i);
            u.col(j + 1) = a * u.col(j);
            alpha = rho / u.col(j + 1).dot(b);
            for (int i = 0; i <= j; ++i) r.col(i) -= alpha * u.col(i + 1);
            r.col(j + 1) = a * r.col(j);
        }
        const Eigen::VectorXd gamma = r.rightCols(l).householderQr().solve(r.col(0));
        r.col(0) -= r.rightCols(l) * gamma;
        u.col(0) -= u.rightCols(l) * gamma;
        omega = gamma[l - 1];
        residuals.push_back(r.col(0).norm());
    }
    return residuals;
}

} // namespace

KRYLITH_GROUP_TEST("bicgstab_l: for l = 1, 2, 3, against dense recurrences") {
    const auto matrix = convection_diffusion<double>(5, 20, random_scaling{3});
    const auto b = random_values<double>(matrix.rows, 361);
    problem<double> p(group, matrix, b);
    for (int l = 1; l <= 3; ++l) {
        const auto expected =
            bicgstab_l_residuals(testing::to_eigen(matrix), testing::to_eigen(b), l, 8 / l);
        const auto result =
            p.solve(method::bicgstab_l, {.rtol = 1e-9, .polynomial_degree = l, .history = true});
        CAPTURE(l);
        INFO(describe(result));
        CHECK(result.converged());
        CHECK(p.relative_residual() <= 1.01e-9);
        REQUIRE(result.history.size() > 8);
        for (int cycle = 0; cycle <= 8 / l; ++cycle)
            CHECK(result.history[static_cast<std::size_t>(cycle * l)] ==
                  doctest::Approx(expected[static_cast<std::size_t>(cycle)]).epsilon(1e-5));
    }
    const auto usual = p.solve(method::bicgstab, {.history = true});
    const auto one = p.solve(method::bicgstab_l, {.polynomial_degree = 1, .history = true});
    for (std::size_t k = 0; k < 8; ++k)
        CHECK(one.history.at(k) == doctest::Approx(usual.history.at(k)).epsilon(1e-5));
}

// Eigenvalues 1 +- i t: no polynomial of degree 1 with real coefficients reduces both of a pair.
KRYLITH_GROUP_TEST("bicgstab_l: a nearly skew matrix, on which bicgstab is slow") {
    constexpr int n = 200;
    std::vector<std::vector<double>> rows(n, std::vector<double>(n));
    for (std::size_t i = 0; i < n; i += 2) {
        const double t = 1 + 30 * static_cast<double>(i) / n;
        rows[i][i] = rows[i + 1][i + 1] = 1;
        rows[i][i + 1] = t;
        rows[i + 1][i] = -t;
    }
    problem<double> p(group, testing::from_dense(rows), random_values<double>(n, 362));
    const auto two = p.solve(method::bicgstab_l);
    INFO(describe(two));
    CHECK(two.converged());
    CHECK(p.relative_residual() <= 1.01e-8);
    const auto one = p.solve(method::bicgstab, {.max_iterations = 2000});
    INFO(describe(one));
    CHECK((!one.converged() || 2 * two.iterations < one.iterations));
}

KRYLITH_GROUP_TEST("bicgstab_l: preconditioned on all sides, for all degrees") {
    const auto matrix = convection_diffusion<double>(6, 60, random_scaling{7});
    problem<double> p(group, matrix, random_values<double>(matrix.rows, 363));
    const testing::two_steps<double> m(*p.a);
    for (int l = 1; l <= 3; ++l)
        for (const auto on_side : {side::left, side::right}) {
            CAPTURE(l);
            const auto result =
                testing::solve(method::bicgstab_l, *p.a, p.b, p.x,
                               {.polynomial_degree = l, .preconditioning = on_side}, m);
            INFO(describe(result));
            CHECK(result.converged());
            CHECK(p.relative_residual() <= 1.01e-8);
        }
}

KRYLITH_GROUP_TEST("bicgstab_l: limits inside a cycle count iterations exactly") {
    problem<double> p(group, testing::laplace_1d(100), random_values<double>(100, 364));
    for (const int limit : {1, 2, 3, 4, 11}) {
        const auto result =
            p.solve(method::bicgstab_l, {.max_iterations = limit, .polynomial_degree = 3});
        CAPTURE(limit);
        CHECK(name_of(result.reason) == name_of(reason::max_iterations));
        CHECK(result.iterations == limit);
        CHECK(result.relative_residual() == doctest::Approx(p.relative_residual()).epsilon(1e-9));
        CHECK(result.recurrence_residual == doctest::Approx(result.true_residual).epsilon(1e-9));
    }
    CHECK_THROWS_WITH_AS((void)p.solve(method::bicgstab_l, {.polynomial_degree = 5}),
                         doctest::Contains("polynomial_degree = 5 is not allowed"), usage_error);
}

KRYLITH_GROUP_TEST("bicgstab_l: breakdown ends the solve with its reason") {
    problem<double> skew(group, testing::from_dense({{0, 1}, {-1, 0}}), {1, 0});
    const auto result = skew.solve(method::bicgstab_l);
    INFO(describe(result));
    CHECK(name_of(result.reason) == name_of(reason::breakdown));
}

} // namespace krylith
