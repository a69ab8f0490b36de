// IDR(s): its residuals vanish in steps of s + 1 products for every s, the same on any devices.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/solvers/idr/shadow_vectors.hpp>

#include <krylith/tests/support/dense.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/own_preconditioners.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith {

using testing::describe;
using testing::method;
using testing::problem;
using testing::random_values;
using testing::same_bits;

namespace {

basis<double> shadows(const matrix_operator<double>& a, int s) {
    return make_shadow_vectors<double>(s, [&] { return a.make_range_vector(); });
}

/// The residual norms of the prototype of Sonneveld and van Gijzen's second paper, one dot product
/// after the other, with the same safeguard of omega.
std::vector<double> idr_residuals(const Eigen::MatrixXd& a, const Eigen::VectorXd& b,
                                  const Eigen::MatrixXd& p, int cycles) {
    const auto s = p.cols();
    Eigen::MatrixXd g = Eigen::MatrixXd::Zero(b.size(), s);
    Eigen::MatrixXd u = g;
    Eigen::MatrixXd m = Eigen::MatrixXd::Identity(s, s);
    Eigen::VectorXd r = b;
    double omega = 1;
    std::vector<double> residuals = {r.norm()};
    for (int cycle = 0; cycle < cycles; ++cycle) {
        for (Eigen::Index k = 0; k < s; ++k) {
            const auto left = s - k;
            const Eigen::VectorXd f = p.rightCols(left).transpose() * r;
            const Eigen::VectorXd c = m.bottomRightCorner(left, left).partialPivLu().solve(f);
            Eigen::VectorXd next = omega * (r - g.rightCols(left) * c) + u.rightCols(left) * c;
            Eigen::VectorXd image = a * next;
            for (Eigen::Index i = 0; i < k; ++i) {
                const double part = p.col(i).dot(image) / m(i, i);
                image -= part * g.col(i);
                next -= part * u.col(i);
            }
            u.col(k) = next;
            g.col(k) = image;
            for (Eigen::Index i = k; i < s; ++i) m(i, k) = p.col(i).dot(image);
            r -= p.col(k).dot(r) / m(k, k) * image;
            residuals.push_back(r.norm());
        }
        const Eigen::VectorXd t = a * r;
        omega = t.dot(r) / t.dot(t);
        const double cosine = std::fabs(t.dot(r)) / (t.norm() * r.norm());
        if (cosine < 0.7) omega *= 0.7 / cosine;
        r -= omega * t;
        residuals.push_back(r.norm());
    }
    return residuals;
}

} // namespace

KRYLITH_GROUP_TEST("idr: for s = 1 ... 8, against dense recurrences") {
    const auto matrix = convection_diffusion<double>(5, 20, random_scaling{3});
    const auto b = random_values<double>(matrix.rows, 371);
    problem<double> p(group, matrix, b);
    for (const int s : {1, 2, 4, 8}) {
        const auto found = shadows(*p.a, s);
        Eigen::MatrixXd shadow(matrix.rows, s);
        for (int k = 0; k < s; ++k) shadow.col(k) = testing::to_eigen(testing::values_of(found[k]));
        CHECK((shadow.transpose() * shadow - Eigen::MatrixXd::Identity(s, s)).norm() < 1e-12);
        const auto expected =
            idr_residuals(testing::to_eigen(matrix), testing::to_eigen(b), shadow, 24 / (s + 1));
        const auto result =
            p.solve(method::idr, {.rtol = 1e-9, .shadow_vectors = s, .history = true});
        CAPTURE(s);
        INFO(describe(result));
        CHECK(result.converged());
        CHECK(p.relative_residual() <= 1.01e-9);
        const std::size_t many =
            std::min<std::size_t>({expected.size(), result.history.size(), 16});
        for (std::size_t k = 0; k < many; ++k)
            CHECK(result.history[k] == doctest::Approx(expected[k]).epsilon(1e-5));
    }
}

// In exact arithmetic n + n / s products suffice.
KRYLITH_GROUP_TEST("idr: ends after n + n / s products") {
    constexpr int n = 24;
    const auto matrix = testing::random_matrix(n, 5, 6, 372);
    problem<double> p(group, matrix, random_values<double>(n, 373));
    for (const int s : {1, 3, 6, 12, 100}) {
        const auto result = p.solve(method::idr, {.rtol = 1e-6, .shadow_vectors = s});
        CAPTURE(s);
        INFO(describe(result));
        CHECK(result.converged());
        CHECK(result.iterations <= n + n / std::min(s, n) + 2);
    }
}

KRYLITH_GROUP_TEST("idr: larger s comes nearer to the products of gmres") {
    const auto matrix = convection_diffusion<double>(9, 60);
    problem<double> p(group, matrix, random_values<double>(matrix.rows, 374));
    const auto least = p.solve(method::gmres, {.restart = 500}).iterations;
    const auto four = p.solve(method::idr);
    INFO(describe(four));
    CHECK(four.converged());
    CHECK(p.relative_residual() <= 1.01e-8);
    CHECK(four.iterations >= least);
    const auto eight = p.solve(method::idr, {.shadow_vectors = 8});
    CHECK(eight.converged());
    CHECK(static_cast<double>(eight.iterations) <= 1.6 * static_cast<double>(least));
    const testing::two_steps<double> m(*p.a);
    const auto with = testing::solve(method::idr, *p.a, p.b, p.x, {}, m);
    CHECK(with.converged());
    CHECK(p.relative_residual() <= 1.01e-8);
    CHECK(with.iterations < four.iterations);
    problem<float> q(group, testing::converted<float>(matrix),
                     random_values<float>(matrix.rows, 374));
    CHECK(q.solve(method::idr).converged());
    CHECK(q.relative_residual() <= 1.01e-5);
}

KRYLITH_GROUP_TEST("idr: shadow vectors and iterations don't depend on the devices") {
    const auto matrix = convection_diffusion<double>(6, 30);
    const auto b = random_values<double>(matrix.rows, 375);
    problem<double> alone(device_group::host(1), matrix, b);
    problem<double> p(group, matrix, b);
    const auto one = shadows(*alone.a, 3);
    const auto here = shadows(*p.a, 3);
    for (int k = 0; k < 3; ++k)
        CHECK(same_bits(testing::values_of(one[k]), testing::values_of(here[k])));
    CHECK(p.solve(method::idr).iterations == alone.solve(method::idr).iterations);
    CHECK_THROWS_WITH_AS((void)p.solve(method::idr, {.shadow_vectors = 0}),
                         doctest::Contains("shadow_vectors = 0 is not allowed"), usage_error);
}

} // namespace krylith
