// Solutions against Eigen's dense LU: every solver, side, preconditioner and operator.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <krylith/matrix/gallery.hpp>

#include <krylith/tests/support/dense.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/solves.hpp>
#include <krylith/tests/support/tables.hpp>

namespace krylith {

using testing::all_methods;
using testing::describe;
using testing::general_methods;
using testing::method;
using testing::name_of;
using testing::problem;
using testing::random_values;

namespace {

/// Returns the largest error of an entry, relative to the solution's size.
double error_of(const std::vector<double>& x, const Eigen::VectorXd& exact) {
    double worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i) // written so that NaN counts
        if (const double e = std::fabs(x[i] - exact[static_cast<Eigen::Index>(i)]); !(e <= worst))
            worst = e;
    return worst / exact.lpNorm<Eigen::Infinity>();
}

void try_all(const device_group& group, const csr_matrix<double>& matrix,
             std::span<const method> methods) {
    const auto b = random_values<double>(matrix.rows, 81);
    const Eigen::MatrixXd dense = testing::to_eigen(matrix);
    const Eigen::VectorXd exact = dense.partialPivLu().solve(testing::to_eigen(b));
    for (const auto kind : testing::different_operators())
        for (const auto which : methods)
            for (const auto on_side : {side::left, side::right, side::split})
                for (const bool precondition : {false, true}) {
                    CAPTURE(name_of(kind));
                    CAPTURE(name_of(which));
                    CAPTURE(static_cast<int>(on_side));
                    CAPTURE(precondition);
                    problem<double> p(group, matrix, b, {.kind = kind});
                    const solver_options options{
                        .rtol = 1e-11, .restart = 25, .preconditioning = on_side};
                    const auto result =
                        precondition ? p.solve_jacobi(which, options) : p.solve(which, options);
                    INFO(describe(result));
                    CHECK(result.converged());
                    CHECK(result.diagnosis.empty());
                    CHECK(p.relative_residual() <= 1.01e-11);
                    CHECK(result.relative_residual() ==
                          doctest::Approx(p.relative_residual()).epsilon(0.05));
                    CHECK(result.rhs_norm == doctest::Approx(testing::norm(b)));
                    CHECK(error_of(p.solution(), exact) < 1e-8);
                }
}

} // namespace

KRYLITH_GROUP_TEST("solutions: SPD matrices of random pattern") {
    try_all(group, random_spd<double>(90, 7, 1), all_methods);
}

// Jacobi has an effect only where the diagonal varies.
KRYLITH_GROUP_TEST("solutions: SPD matrices with a diagonal over four decades") {
    auto matrix = random_spd<double>(80, 5, 2);
    for (std::int64_t row = 0; row < matrix.rows; ++row) {
        const auto scale = [](std::int64_t i) {
            return std::pow(10.0, static_cast<double>(i % 5) / 2);
        };
        const auto r = static_cast<std::size_t>(row);
        for (auto k = matrix.row_offsets[r]; k < matrix.row_offsets[r + 1]; ++k)
            matrix.values[static_cast<std::size_t>(k)] *=
                scale(row) * scale(matrix.column_indices[static_cast<std::size_t>(k)]);
    }
    const auto b = random_values<double>(matrix.rows, 82);
    for (const auto which : all_methods) {
        CAPTURE(name_of(which));
        problem<double> p(group, matrix, b);
        const auto with = p.solve_jacobi(which);
        INFO(describe(with));
        CHECK(with.converged());
        CHECK(p.relative_residual() <= 1.01e-8);
        const auto without = p.solve(which);
        CHECK(with.iterations < without.iterations);
    }
}

KRYLITH_GROUP_TEST("solutions: matrices that are not symmetric") {
    try_all(group, convection_diffusion<double>(4, 20, random_scaling{4}), general_methods);
    try_all(group, testing::random_matrix(70, 6, 5, 83), general_methods);
}

// Some groups have more devices than rows: 1 .. 5 rows on up to 7 devices.
KRYLITH_GROUP_TEST("solutions: systems of one to five rows") {
    for (std::int64_t n = 1; n <= 5; ++n)
        for (const auto kind : testing::different_operators())
            for (const auto which : all_methods) {
                if (!testing::worth_running(which, kind)) continue;
                CAPTURE(n);
                CAPTURE(name_of(which));
                const auto matrix = testing::laplace_1d(n);
                const auto b = random_values<double>(n, 84);
                problem<double> p(group, matrix, b, {.kind = kind});
                const auto result = p.solve(which, {.rtol = 1e-12});
                INFO(describe(result));
                CHECK(result.converged());
                CHECK(result.iterations <= 2 * n);
                CHECK(p.relative_residual() <= 1.1e-12);
                CHECK(p.solve_jacobi(which).converged());
            }
}

} // namespace krylith
