// GMRES where unrefined Gram-Schmidt fails, and against a dense reference.
#include <algorithm>
#include <cmath>
#include <vector>

#include <krylith/matrix/gallery.hpp>

#include <krylith/tests/support/dense.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith {

using testing::describe;
using testing::method;
using testing::problem;
using testing::random_values;

namespace {

/// An Arnoldi basis of `steps` + 1 vectors with `passes` passes of classical Gram-Schmidt, and the
/// residual norms of GMRES with it.
struct arnoldi {
    arnoldi(const Eigen::MatrixXd& a, const Eigen::VectorXd& b, int steps, int passes) {
        Eigen::MatrixXd v = Eigen::MatrixXd::Zero(a.rows(), steps + 1);
        Eigen::MatrixXd h = Eigen::MatrixXd::Zero(steps + 1, steps);
        v.col(0) = b.normalized();
        residuals.push_back(b.norm());
        for (int j = 0; j < steps; ++j) {
            Eigen::VectorXd w = a * v.col(j);
            for (int pass = 0; pass < passes; ++pass) {
                const Eigen::VectorXd c = v.leftCols(j + 1).transpose() * w;
                w -= v.leftCols(j + 1) * c;
                h.block(0, j, j + 1, 1) += c;
            }
            h(j + 1, j) = w.norm();
            if (h(j + 1, j) == 0) return;
            v.col(j + 1) = w / h(j + 1, j);
            const Eigen::MatrixXd gram = v.leftCols(j + 2).transpose() * v.leftCols(j + 2);
            loss = std::max(loss, (gram - Eigen::MatrixXd::Identity(j + 2, j + 2)).norm());
            Eigen::VectorXd rhs = Eigen::VectorXd::Zero(j + 2);
            rhs[0] = b.norm();
            const Eigen::MatrixXd hj = h.topLeftCorner(j + 2, j + 1);
            const Eigen::VectorXd y = hj.householderQr().solve(rhs);
            residuals.push_back((rhs - hj * y).norm());
            true_residuals.push_back((b - a * v.leftCols(j + 1) * y).norm());
        }
    }
    double loss = 0; ///< the loss of orthogonality ||V'V - I||
    std::vector<double> residuals;
    std::vector<double> true_residuals;
};

/// A matrix whose every product almost lies in the space already: A e1 = e2, A ek = e2 + delta
/// e(k+1), A en = e1, in a rotated basis, so that every entry is rounded. b = e1 is out of reach
/// until the last step.
csr_matrix<double> nearly_dependent(int n, double delta, std::vector<double>& b) {
    Eigen::MatrixXd a = Eigen::MatrixXd::Zero(n, n);
    a(1, 0) = 1;
    for (int k = 1; k + 1 < n; ++k) {
        a(1, k) += 1;
        a(k + 1, k) += delta;
    }
    a(0, n - 1) = 1;
    Eigen::MatrixXd random(n, n);
    const auto values = random_values<double>(std::int64_t{n} * n, 135);
    for (int i = 0; i < n * n; ++i) random(i / n, i % n) = values[static_cast<std::size_t>(i)];
    const Eigen::MatrixXd q = random.householderQr().householderQ();
    const Eigen::MatrixXd rotated = q * a * q.transpose();
    std::vector<std::vector<double>> rows(static_cast<std::size_t>(n));
    b.clear();
    for (int i = 0; i < n; ++i) {
        b.push_back(q(i, 0));
        for (int j = 0; j < n; ++j) rows[static_cast<std::size_t>(i)].push_back(rotated(i, j));
    }
    return testing::from_dense(rows);
}

} // namespace

KRYLITH_GROUP_TEST("gmres: products that lie almost in the space already") {
    constexpr int n = 10;
    std::vector<double> b;
    const auto matrix = nearly_dependent(n, 1e-10, b);
    const arnoldi once(testing::to_eigen(matrix), testing::to_eigen(b), n - 1, 1);
    const arnoldi twice(testing::to_eigen(matrix), testing::to_eigen(b), n - 1, 2);
    REQUIRE(once.loss > 1e-8); // the premise: one pass loses half the digits
    REQUIRE(twice.loss < 1e-13);
    problem<double> p(group, matrix, b);
    const auto result = p.solve(method::gmres, {.rtol = 1e-12, .restart = n});
    INFO(describe(result));
    CHECK(result.converged());
    CHECK(result.iterations == n);
    CHECK(result.replacements == 0);
    CHECK(p.relative_residual() <= 1.01e-12);
}

KRYLITH_GROUP_TEST("gmres: converges where one pass of Gram-Schmidt loses orthogonality") {
    const auto matrix = convection_diffusion<double>(5, 40, random_scaling{8});
    const auto b = random_values<double>(matrix.rows, 131);
    static const arnoldi once(testing::to_eigen(matrix), testing::to_eigen(b), 70, 1);
    static const arnoldi twice(testing::to_eigen(matrix), testing::to_eigen(b), 70, 2);
    REQUIRE(once.loss > 1); // the premise: one pass is lost here
    REQUIRE(twice.loss < 1e-13);

    problem<double> p(group, matrix, b);
    const auto result = p.solve(method::gmres, {.rtol = 1e-13, .restart = 125, .history = true});
    INFO(describe(result));
    CHECK(result.converged());
    CHECK(result.replacements == 0);
    CHECK(p.relative_residual() <= 1.1e-13);
    // The estimate equals the true residual, down to rounding.
    CHECK(result.recurrence_residual == doctest::Approx(result.true_residual).epsilon(0.1));
    const auto enough = std::find_if(twice.residuals.begin(), twice.residuals.end(),
                                     [&](double r) { return r <= 1e-13 * twice.residuals[0]; });
    CHECK(std::abs(result.iterations - (enough - twice.residuals.begin())) <= 1);
    for (std::size_t k = 0; k < result.history.size() && k < twice.residuals.size(); ++k) {
        const double slack = 1e-4 * twice.residuals[k] + 1e-14 * twice.residuals[0];
        CHECK(std::fabs(result.history[k] - twice.residuals[k]) <= slack);
    }
}

KRYLITH_GROUP_TEST("gmres: takes the iterations of the dense reference") {
    const auto matrix = testing::random_matrix(60, 5, 4, 132);
    const auto b = random_values<double>(60, 133);
    const arnoldi reference(testing::to_eigen(matrix), testing::to_eigen(b), 50, 2);
    problem<double> p(group, matrix, b);
    const auto result = p.solve(method::gmres, {.restart = 60, .history = true});
    INFO(describe(result));
    CHECK(result.converged());
    const auto enough = std::find_if(reference.residuals.begin(), reference.residuals.end(),
                                     [&](double r) { return r <= 1e-8 * reference.residuals[0]; });
    CHECK(result.iterations == enough - reference.residuals.begin());
    for (std::size_t k = 0; k < result.history.size(); ++k)
        CHECK(result.history[k] == doctest::Approx(reference.residuals.at(k)).epsilon(1e-6));
}

KRYLITH_GROUP_TEST("gmres: limits inside a cycle count iterations exactly") {
    problem<double> p(group, testing::laplace_1d(100), random_values<double>(100, 134));
    for (const int limit : {1, 9, 10, 11, 25}) {
        const auto result = p.solve(method::gmres, {.max_iterations = limit, .restart = 10});
        CAPTURE(limit);
        CHECK(result.reason == reason::max_iterations);
        CHECK(result.iterations == limit);
        // Iterations up to the limit reduce the residual.
        CHECK(result.true_residual < result.rhs_norm);
        CHECK(result.relative_residual() == doctest::Approx(p.relative_residual()).epsilon(1e-9));
    }
}

} // namespace krylith
