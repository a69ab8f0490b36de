// MINRES against the dense least residual over Krylov spaces, on indefinite and singular systems.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/table/preconditioner_table.hpp>
#include <krylith/solvers/solver_table.hpp>

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

/// A Laplacian minus a shift between its eigenvalues: half of them are negative.
csr_matrix<double> shifted_laplacian(std::int64_t n, double shift) {
    auto matrix = poisson2d<double>(n, n - 1);
    for (double& value : matrix.values)
        if (value > 0) value -= shift;
    return matrix;
}

/// The least ||b - A y|| over the Krylov spaces of dimension 1, 2, ..., from a basis that is made
/// orthogonal twice.
std::vector<double> least_residuals(const Eigen::MatrixXd& a, const Eigen::VectorXd& b, int steps) {
    Eigen::MatrixXd v = Eigen::MatrixXd::Zero(a.rows(), steps + 1);
    v.col(0) = b.normalized();
    std::vector<double> residuals = {b.norm()};
    for (int j = 0; j < steps; ++j) {
        const Eigen::MatrixXd image = a * v.leftCols(j + 1);
        residuals.push_back((b - image * image.householderQr().solve(b)).norm());
        Eigen::VectorXd w = image.col(j);
        for (int pass = 0; pass < 2; ++pass)
            w -= v.leftCols(j + 1) * (v.leftCols(j + 1).transpose() * w);
        v.col(j + 1) = w.normalized();
    }
    return residuals;
}

} // namespace

KRYLITH_GROUP_TEST("minres: an indefinite matrix, against the least residuals of Krylov spaces") {
    const auto matrix = shifted_laplacian(9, 3.3);
    const auto b = random_values<double>(matrix.rows, 341);
    const auto expected = least_residuals(testing::to_eigen(matrix), testing::to_eigen(b), 30);
    problem<double> p(group, matrix, b);
    REQUIRE_FALSE(p.solve(method::cg).converged());
    const auto result = p.solve(method::minres, {.history = true});
    INFO(describe(result));
    CHECK(result.converged());
    CHECK(p.relative_residual() <= 1.01e-8);
    CHECK(std::is_sorted(result.history.rbegin(), result.history.rend()));
    for (std::size_t k = 0; k < 30; ++k)
        CHECK(result.history.at(k) == doctest::Approx(expected[k]).epsilon(1e-6));
}

KRYLITH_GROUP_TEST(
    "minres: takes no more iterations than cg, and as many as gmres where it is full") {
    const auto matrix = poisson2d<double>(20, random_scaling{3});
    problem<double> p(group, matrix, random_values<double>(matrix.rows, 342));
    const testing::two_steps<double> m(*p.a);
    const auto usual = p.solve(method::cg);
    const auto least = p.solve(method::minres);
    INFO(describe(least));
    CHECK(least.converged());
    CHECK(least.iterations <= usual.iterations);
    const auto basis = p.solve(method::gmres, {.restart = 400});
    CHECK(std::abs(least.iterations - basis.iterations) <= 1);
    const auto preconditioned = testing::solve(method::minres, *p.a, p.b, p.x, {}, m);
    INFO(describe(preconditioned));
    CHECK(preconditioned.converged());
    CHECK(preconditioned.replacements == 0);
    CHECK(p.relative_residual() <= 1.01e-8);
    CHECK(preconditioned.iterations < least.iterations);
}

KRYLITH_GROUP_TEST("minres: a preconditioner of an indefinite matrix") {
    const auto laplacian = poisson2d<double>(14, 13, random_scaling{5});
    auto matrix = laplacian;
    for (double& value : matrix.values)
        if (value > 0) value *= 1 - 3.3 / 4;
    problem<double> p(group, matrix, random_values<double>(matrix.rows, 343));
    const jacobi<double> m(*p.a, laplacian); // positive, where that of A is not
    const auto alone = p.solve(method::minres);
    CHECK(alone.converged());
    const auto result = testing::solve(method::minres, *p.a, p.b, p.x, {.history = true}, m);
    INFO(describe(result));
    CHECK(result.converged());
    CHECK(p.relative_residual() <= 1.01e-8);
    CHECK(result.recurrence_residual == doctest::Approx(result.true_residual).epsilon(1e-3));
}

KRYLITH_GROUP_TEST("minres: refuses an indefinite preconditioner by its reason") {
    auto signs = std::vector<double>(20, 2.0);
    for (std::size_t i = 0; i < signs.size(); ++i)
        if (i % 4 != 0) signs[i] = -3;
    problem<double> p(group, testing::diagonal_matrix(signs), random_values<double>(20, 344));
    CHECK(p.solve(method::minres).converged());
    CHECK(p.solve(method::minres).iterations == 2);
    const auto result = p.solve_jacobi(method::minres);
    INFO(describe(result));
    CHECK(name_of(result.reason) == name_of(reason::indefinite_preconditioner));
    CHECK(result.diagnosis.find("gmres") != std::string::npos);
}

// The Laplacian of a ring: constants are its null space.
KRYLITH_GROUP_TEST("minres: a singular system that has no solution ends at the least residual") {
    constexpr int n = 40;
    std::vector<std::vector<double>> ring(n, std::vector<double>(n));
    for (std::size_t i = 0; i < n; ++i) {
        ring[i][i] = 2 - 0.5; // indefinite too
        ring[i][(i + 1) % n] = ring[(i + 1) % n][i] = -1;
    }
    const auto matrix = testing::from_dense(ring);
    for (const bool indefinite : {false, true}) {
        auto of = matrix;
        for (double& value : of.values)
            if (value > 0) value = indefinite ? 2 * std::cos(2 * M_PI * 5 / n) : 2;
        auto b = random_values<double>(n, 345);
        const Eigen::MatrixXd dense = testing::to_eigen(of);
        const Eigen::VectorXd rhs = testing::to_eigen(b);
        const Eigen::VectorXd exact = dense.completeOrthogonalDecomposition().solve(rhs);
        const double least = (rhs - dense * exact).norm();
        REQUIRE(least > 0.01 * rhs.norm());
        problem<double> p(group, of, b);
        const auto result = p.solve(method::minres);
        INFO(describe(result));
        CHECK(name_of(result.reason) == name_of(reason::stagnated));
        CHECK(result.true_residual == doctest::Approx(least).epsilon(1e-6));
        CHECK(result.iterations <= n / 2 + 2);
        CHECK(result.diagnosis.find("b may lie outside its range") != std::string::npos);
        // b in the range of A.
        const Eigen::VectorXd inside = dense * rhs;
        problem<double> good(group, of, {inside.data(), inside.data() + n});
        CHECK(good.solve(method::minres).converged());
        CHECK(good.relative_residual() <= 1.01e-8);
    }
}

// Lanczos vectors that are small leave rounding errors that are large beside the part of b that no
// x reaches: steps along the null space.
KRYLITH_GROUP_TEST("minres: no step that rounding outweighs on singular systems") {
    const auto path = testing::from_dense({{1, -1, 0}, {-1, 2, -1}, {0, -1, 1}});
    for (const double rest : {1e-2, 1e-4, 1e-6, 1e-8}) {
        const std::vector<double> b = {1, rest, -1};
        const double least = rest / std::sqrt(3);
        const double target = 1e-8 * std::sqrt(2.0);
        problem<double> p(group, path, b);
        for (const bool with_jacobi : {false, true}) {
            const auto result =
                with_jacobi ? p.solve_jacobi(method::minres) : p.solve(method::minres);
            INFO(rest << ": " << describe(result));
            CHECK(result.true_residual <=
                  std::max(1.1 * least, target)); // jacobi measures it in another norm
            CHECK(result.converged() == (result.true_residual <= target));
            if (!result.converged()) CHECK(name_of(result.reason) == name_of(reason::stagnated));
        }
        std::vector<double> two(b);
        two.insert(two.end(), b.begin(), b.end());
        std::vector<double> x(6);
        const auto joint = find_solver("minres").joint.fp64(group, csr_view<double>(path), 2,
                                                            joint_preconditioner::none, {});
        for (const auto& result : joint->solve(two, x))
            CHECK(result.true_residual <= std::max(1.1 * least, target));
    }
}

KRYLITH_GROUP_TEST("minres: names an M that is singular on the way, alone and at once") {
    // The diagonal of M: r'M^-1 r vanishes where r is left in the second unknown.
    const auto matrix = testing::from_dense({{1, -2.5}, {-2.5, 2}});
    const auto m_of = [&](const auto& a) {
        return make_preconditioner("amg:precision=fp64", a, csr_view<double>(matrix));
    };
    const std::vector<double> b = {-2, -1};
    problem<double> p(group, matrix, b);
    const auto alone = find_solver("minres").solve(*p.a, p.b, p.x, {}, m_of(*p.a));
    INFO(describe(alone));
    CHECK(name_of(alone.reason) == name_of(reason::indefinite_preconditioner));
    column_preconditioner<double> m(joint_preconditioner::applied);
    m.make = m_of;
    std::vector<double> two = {-2, -1, -2, -1};
    std::vector<double> x(4);
    for (const char* solver : {"minres", "cg"})
        for (const auto& result : find_solver(solver)
                                      .joint.fp64(group, csr_view<double>(matrix), 2, m, {})
                                      ->solve(two, x))
            CHECK(name_of(result.reason) == name_of(reason::indefinite_preconditioner));
}

KRYLITH_GROUP_TEST("minres: iterations don't depend on the number of devices, in fp32 neither") {
    const auto matrix = shifted_laplacian(16, 1.3);
    for (const auto& each : {matrix, poisson2d<double>(16)}) {
        const auto b = random_values<double>(each.rows, 346);
        problem<double> alone(device_group::host(1), each, b);
        problem<double> p(group, each, b);
        const auto one = alone.solve(method::minres).iterations;
        const auto many = p.solve(method::minres).iterations;
        // Lanczos vectors of an indefinite matrix that have lost orthogonality differ by rounding.
        CHECK(std::abs(many - one) <= (one > 100 ? one / 50 : 0));
    }
    problem<float> q(group, testing::converted<float>(matrix),
                     random_values<float>(matrix.rows, 346));
    const auto result = q.solve(method::minres);
    INFO(describe(result));
    CHECK(result.converged());
    CHECK(q.relative_residual() <= 1.01e-5);
}

} // namespace krylith
