// Flexible CG: with a preconditioner that stays it is CG, with one that varies CG is slower.
#include <cmath>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>

#include <krylith/tests/support/dense.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/own_preconditioners.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/solves.hpp>
#include <krylith/tests/support/varying.hpp>

namespace krylith {

using testing::describe;
using testing::method;
using testing::problem;
using testing::random_values;
using testing::varying_weights;

namespace {

/// The residual norms of FCG(1) by its definition: each direction is A-orthogonal to the last.
std::vector<double> fcg_residuals(const Eigen::MatrixXd& a, const Eigen::VectorXd& b, int steps) {
    Eigen::VectorXd r = b;
    Eigen::VectorXd p = Eigen::VectorXd::Zero(b.size());
    Eigen::VectorXd q = p;
    std::vector<double> residuals = {r.norm()};
    for (int k = 0; k < steps; ++k) {
        Eigen::VectorXd z = r;
        for (int i = 0; i < z.size(); ++i) z[i] *= varying_weights<double>::weight(k, i);
        if (k > 0) z -= z.dot(q) / p.dot(q) * p;
        p = z;
        q = a * p;
        r -= p.dot(r) / p.dot(q) * q;
        residuals.push_back(r.norm());
    }
    return residuals;
}

} // namespace

KRYLITH_GROUP_TEST("fcg: with a preconditioner that stays it takes the iterations of cg") {
    const auto matrix = poisson2d<double>(18, random_scaling{4});
    problem<double> p(group, matrix, random_values<double>(matrix.rows, 351));
    const testing::two_steps<double> m(*p.a);
    const auto usual = testing::solve(method::cg, *p.a, p.b, p.x, {}, m);
    const auto flexible = testing::solve(method::fcg, *p.a, p.b, p.x, {}, m);
    INFO(describe(flexible));
    CHECK(flexible.converged());
    CHECK(flexible.iterations == usual.iterations);
    CHECK(p.solve_jacobi(method::fcg).iterations == p.solve_jacobi(method::cg_launched).iterations);
    CHECK(p.solve(method::fcg).iterations == p.solve(method::cg_launched).iterations);
}

KRYLITH_GROUP_TEST("fcg: a preconditioner that varies, against a dense reference") {
    const auto matrix = poisson2d<double>(12, random_scaling{5});
    const auto b = random_values<double>(matrix.rows, 352);
    const auto expected = fcg_residuals(testing::to_eigen(matrix), testing::to_eigen(b), 60);
    problem<double> p(group, matrix, b);
    const varying_weights<double> m(*p.a);
    const auto result = testing::solve(method::fcg, *p.a, p.b, p.x, {.history = true}, m);
    INFO(describe(result));
    CHECK(result.converged());
    CHECK(result.replacements == 0);
    CHECK(p.relative_residual() <= 1.01e-8);
    for (std::size_t k = 0; k < 40; ++k)
        CHECK(result.history.at(k) == doctest::Approx(expected[k]).epsilon(1e-5));
    CHECK_THROWS_WITH_AS((void)testing::solve(method::cg, *p.a, p.b, p.x, {}, m),
                         doctest::Contains("varying weights varies: take fcg, or fgmres"),
                         usage_error);
    problem<float> q(group, testing::converted<float>(matrix),
                     random_values<float>(matrix.rows, 352));
    const varying_weights<float> single(*q.a);
    CHECK(testing::solve(method::fcg, *q.a, q.b, q.x, {}, single).converged());
    CHECK(q.relative_residual() <= 1.01e-5);
}

KRYLITH_GROUP_TEST(
    "fcg: an indefinite matrix and preconditioner end the solve with their reasons") {
    auto negative = testing::laplace_1d(40);
    for (double& v : negative.values) v = -v;
    problem<double> p(group, negative, random_values<double>(40, 353));
    CHECK(p.solve(method::fcg).reason == reason::indefinite_matrix);
    CHECK(p.solve_jacobi(method::fcg).reason == reason::indefinite_preconditioner);
    problem<double> signs(group, testing::diagonal_matrix({1, -1, 2}), {1, 1, 1});
    const varying_weights<double> m(*signs.a);
    const auto result = testing::solve(method::fcg, *signs.a, signs.b, signs.x, {}, m);
    CHECK(result.reason == reason::indefinite_matrix);
}

} // namespace krylith
