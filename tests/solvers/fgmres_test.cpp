// Flexible GMRES: with a preconditioner that stays it is GMRES, with one that varies the estimate
// stays true.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/own_preconditioner.hpp>
#include <krylith/solvers/automatic.hpp>

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
using testing::same_bits;
using testing::varying_weights;

namespace {

/// The residual norms of FGMRES without restarts, for M_k = diag(weight(k, i))^-1: the least
/// ||b - A Z y|| over all y, by QR.
std::vector<double> fgmres_residuals(const Eigen::MatrixXd& a, const Eigen::VectorXd& b,
                                     int steps) {
    Eigen::MatrixXd v = Eigen::MatrixXd::Zero(a.rows(), steps + 1);
    Eigen::MatrixXd az = Eigen::MatrixXd::Zero(a.rows(), steps);
    v.col(0) = b.normalized();
    std::vector<double> residuals = {b.norm()};
    for (int j = 0; j < steps; ++j) {
        Eigen::VectorXd z = v.col(j);
        for (int i = 0; i < z.size(); ++i) z[i] *= varying_weights<double>::weight(j, i);
        Eigen::VectorXd w = a * z;
        az.col(j) = w;
        for (int pass = 0; pass < 2; ++pass)
            w -= v.leftCols(j + 1) * (v.leftCols(j + 1).transpose() * w);
        v.col(j + 1) = w.normalized();
        const Eigen::MatrixXd now = az.leftCols(j + 1);
        const Eigen::VectorXd y = now.householderQr().solve(b);
        residuals.push_back((b - now * y).norm());
    }
    return residuals;
}

} // namespace

KRYLITH_GROUP_TEST("fgmres: with a preconditioner that stays it takes the iterations of gmres") {
    for (const auto& matrix :
         {convection_diffusion<double>(6, 40, random_scaling{3}), poisson2d<double>(15, 14)}) {
        problem<double> p(group, matrix, random_values<double>(matrix.rows, 331));
        const testing::two_steps<double> m(*p.a);
        for (const int restart : {7, 30, 500}) {
            const solver_options options{.rtol = 1e-10, .restart = restart, .history = true};
            const auto usual = testing::solve(method::gmres, *p.a, p.b, p.x, options, m);
            const auto flexible = testing::solve(method::fgmres, *p.a, p.b, p.x, options, m);
            CAPTURE(restart);
            INFO(describe(flexible));
            CHECK(flexible.converged());
            CHECK(p.relative_residual() <= 1.01e-10);
            CHECK(std::abs(flexible.iterations - usual.iterations) <= (restart == 7 ? 3 : 0));
            const std::size_t many = std::min(flexible.history.size(), usual.history.size());
            for (std::size_t k = 0; k < std::min<std::size_t>(many, 31); ++k)
                CHECK(flexible.history[k] ==
                      doctest::Approx(usual.history[k]).epsilon(1e-4).scale(0));
        }
    }
}

KRYLITH_GROUP_TEST("fgmres: without a preconditioner it has the bits of gmres") {
    const auto matrix = convection_diffusion<double>(5, 20);
    problem<double> p(group, matrix, random_values<double>(matrix.rows, 332));
    const auto usual = p.solve(method::gmres, {.restart = 12});
    const auto x = p.solution();
    const auto flexible = p.solve(method::fgmres, {.restart = 12});
    CHECK(flexible.iterations == usual.iterations);
    CHECK(same_bits(p.solution(), x));
}

KRYLITH_GROUP_TEST("fgmres: a preconditioner that varies, against a dense reference") {
    const auto matrix = testing::random_matrix(60, 5, 4, 333);
    const auto b = random_values<double>(60, 334);
    const auto expected = fgmres_residuals(testing::to_eigen(matrix), testing::to_eigen(b), 50);
    problem<double> p(group, matrix, b);
    const varying_weights<double> m(*p.a);
    const auto result = testing::solve(method::fgmres, *p.a, p.b, p.x,
                                       {.rtol = 1e-10, .restart = 60, .history = true}, m);
    INFO(describe(result));
    CHECK(result.converged());
    CHECK(result.replacements == 0);
    CHECK(p.relative_residual() <= 1.01e-10);
    const auto enough = std::find_if(expected.begin(), expected.end(),
                                     [&](double r) { return r <= 1e-10 * expected[0]; });
    CHECK(result.iterations == enough - expected.begin());
    for (std::size_t k = 0; k < result.history.size(); ++k)
        CHECK(result.history[k] == doctest::Approx(expected.at(k)).epsilon(1e-5));
    // A second solve, with restarts: M is then at another place in its sequence.
    for (const int restart : {5, 16}) {
        const auto restarted =
            testing::solve(method::fgmres, *p.a, p.b, p.x, {.rtol = 1e-10, .restart = restart}, m);
        INFO(describe(restarted));
        CHECK(restarted.converged());
        CHECK(p.relative_residual() <= 1.01e-10);
    }
}

KRYLITH_GROUP_TEST("fgmres: fp32, and ranks of a singular system") {
    const auto matrix = convection_diffusion<double>(5, 30);
    problem<float> p(group, testing::converted<float>(matrix),
                     random_values<float>(matrix.rows, 335));
    const varying_weights<float> m(*p.a);
    const auto result = testing::solve(method::fgmres, *p.a, p.b, p.x, {}, m);
    INFO(describe(result));
    CHECK(result.converged());
    CHECK(p.relative_residual() <= 1.01e-5);
    // The space is complete before the residual is small: b has a part that no A x has.
    problem<double> hole(group, testing::diagonal_matrix({1, 0, 2, 3}), {1, 1, 1, 1});
    const varying_weights<double> weights(*hole.a);
    const auto never = testing::solve(method::fgmres, *hole.a, hole.b, hole.x, {}, weights);
    INFO(describe(never));
    CHECK_FALSE(never.converged());
    CHECK(never.relative_residual() == doctest::Approx(0.5).epsilon(1e-6));
}

// The inner solve is a few sweeps of Gauss-Seidel, as many as reduce the residual to a tenth.
KRYLITH_GROUP_TEST("fgmres: an inner solve as preconditioner, which others refuse") {
    const auto matrix = convection_diffusion<double>(6, 10);
    problem<double> p(group, matrix, random_values<double>(matrix.rows, 336));
    const auto inner = [&](const preconditioner_call<double>& call) {
        const auto n = static_cast<std::size_t>(matrix.rows);
        std::vector<double> z(n);
        double left = 1;
        for (double start = 0; left > 0.1 * start;) {
            left = 0;
            for (std::size_t i = 0; i < n; ++i) {
                double sum = call.r[i];
                double pivot = 0;
                for (auto k = static_cast<std::size_t>(matrix.row_offsets[i]);
                     k < static_cast<std::size_t>(matrix.row_offsets[i + 1]); ++k) {
                    const auto j = static_cast<std::size_t>(matrix.column_indices[k]);
                    if (j == i) pivot = matrix.values[k];
                    sum -= matrix.values[k] * z[j];
                }
                left += sum * sum;
                z[i] += sum / pivot;
            }
            if (start == 0) start = left;
        }
        std::copy(z.begin(), z.end(), call.z);
    };
    const auto m = make_preconditioner(*p.a, inner,
                                       {.kind = preconditioner_kind::whole_on_host,
                                        .name = "inner sweeps",
                                        .bytes = 0,
                                        .varies = true,
                                        .symmetric = false});
    const auto alone = p.solve(method::fgmres);
    const auto result = testing::solve(method::fgmres, *p.a, p.b, p.x, {}, m);
    INFO(describe(result));
    CHECK(result.converged());
    CHECK(p.relative_residual() <= 1.01e-8);
    CHECK(2 * result.iterations < alone.iterations);
    for (const solver_method* row : all_solvers) {
        if (row->takes_varying || !row->runs_everywhere || row->least_squares) continue;
        CAPTURE(std::string(row->name));
        CHECK_THROWS_WITH_AS(
            (void)row->solve(*p.a, p.b, p.x, {}, any_preconditioner<double>(std::cref(m))),
            doctest::Contains("inner sweeps varies: take f"), usage_error);
    }
}

KRYLITH_GROUP_TEST("fgmres: solve() takes a flexible method for a preconditioner that varies") {
    const auto solved_by = [&](const csr_matrix<double>& matrix) {
        problem<double> p(group, matrix, random_values<double>(matrix.rows, 338));
        const varying_weights<double> m(*p.a);
        const auto result = solve(*p.a, p.b, p.x, {}, any_preconditioner<double>(std::cref(m)));
        INFO(describe(result));
        CHECK(result.converged());
        CHECK(p.relative_residual() <= 1.01e-8);
        return result.best_attempt()->solver;
    };
    CHECK(solved_by(poisson2d<double>(12)) == "fcg");
    CHECK(solved_by(convection_diffusion<double>(5, 20)) == "fgmres");
}

KRYLITH_GROUP_TEST("fgmres: cg refuses a preconditioner that says it is not symmetric") {
    problem<double> p(group, poisson2d<double>(6), random_values<double>(36, 337));
    const auto m = make_preconditioner(
        *p.a,
        [](const preconditioner_call<double>& call) {
            for (std::int64_t i = 0; i < call.rows.size(); ++i)
                call.z[i] = call.r[i] + (i > 0 ? 0.5 * call.r[i - 1] : 0);
        },
        {.kind = preconditioner_kind::on_host, .name = "shear", .bytes = 0, .symmetric = false});
    CHECK_THROWS_WITH_AS((void)testing::solve(method::cg, *p.a, p.b, p.x, {}, m),
                         doctest::Contains("cg needs a symmetric positive definite "
                                           "preconditioner; shear is not symmetric: take gmres"),
                         usage_error);
    CHECK(testing::solve(method::gmres, *p.a, p.b, p.x, {}, m).converged());
    CHECK(testing::solve(method::fgmres, *p.a, p.b, p.x, {}, m).converged());
}

} // namespace krylith
