// Joint loops whose M is applied to all columns as a step of its own.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/any_preconditioner.hpp>
#include <krylith/solvers/column_solver.hpp>
#include <krylith/solvers/solver_table.hpp>
#include <krylith/spmv/matrix_operator.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/matrices.hpp>
#include <krylith/tests/support/random.hpp>

namespace krylith {

using testing::random_columns;

namespace {

/// Solves k systems at once and one after the other with the same M. Rounding may make the one take
/// `slack` iterations more than the other.
template <class T>
void compare_applied(const device_group& group, const csr_matrix<T>& matrix, int k,
                     const std::string& solver, const std::string& m, std::int64_t slack = 1) {
    INFO(solver << " with " << m << ", " << k << " columns");
    const csr_view<T> view(matrix);
    const auto n = static_cast<std::size_t>(matrix.rows);
    const std::vector<T> b = random_columns<T>(matrix.rows, k);
    std::vector<T> x(b.size(), T(7)); // what a solve from 0 must not see
    const column_method method{.solver = solver, .preconditioner = m};
    column_solver<T> together(group, view, k, method);
    REQUIRE(together.one_by_one_because() == "");
    CHECK(together.columns_a_loop() >= std::min(k, 16));
    const auto results = together.solve(b, x);
    REQUIRE(results.size() == static_cast<std::size_t>(k));

    column_method apart = method;
    apart.at_once = false;
    std::vector<T> y(b.size());
    column_solver<T> alone(group, view, k, apart);
    const auto expected = alone.solve(b, y);
    CHECK(together.preconditioner_name() == alone.preconditioner_name());
    for (std::size_t j = 0; j < results.size(); ++j) {
        INFO("column " << j << ": " << results[j].diagnosis);
        CHECK(results[j].reason == expected[j].reason);
        CHECK(std::abs(results[j].iterations - expected[j].iterations) <= slack);
        CHECK(results[j].relative_residual() <= results[j].rtol);
    }
    double worst = 0;
    double largest = 0;
    for (std::size_t i = 0; i < n * results.size(); ++i) {
        worst = std::max(worst, std::abs(static_cast<double>(x[i]) - static_cast<double>(y[i])));
        largest = std::max(largest, std::abs(static_cast<double>(y[i])));
    }
    CHECK(worst <= (sizeof(T) == 8 ? 1e-5 : 1e-2) * largest);
    std::vector<T> again(b.size());
    (void)together.solve(b, again);
    CHECK(again == x); // the same bits
}

} // namespace

KRYLITH_GROUP_TEST("joint loops: cg with M of all columns") {
    const auto poisson = poisson2d<double>(30, random_scaling{3});
    for (const int k : {2, 5, 16, 19}) compare_applied(group, poisson, k, "cg", "amg");
    compare_applied(group, poisson, 3, "cg", "chebyshev:degree=6");
    compare_applied(group, poisson, 3, "cg", "amg:precision=fp64");
    compare_applied<float>(group, poisson2d<float>(20), 4, "cg", "amg");
}

KRYLITH_GROUP_TEST("joint loops: minres and bicgstab with M of all columns") {
    const auto poisson = poisson2d<double>(20, random_scaling{3});
    for (const int k : {2, 7}) compare_applied(group, poisson, k, "minres", "amg", 2);
    compare_applied(group, poisson, 3, "minres", "chebyshev:degree=5", 2);
    const auto flow = convection_diffusion<double>(9, 20);
    for (const int k : {3, 16}) compare_applied(group, flow, k, "bicgstab", "amg", 3);
    compare_applied(group, poisson, 3, "bicgstab", "chebyshev:degree=5", 3);
}

KRYLITH_GROUP_TEST("joint loops: gmres with M of all columns") {
    const auto flow = convection_diffusion<double>(9, 20);
    for (const int k : {2, 7, 16}) compare_applied(group, flow, k, "gmres", "amg", 2);
    const auto poisson = poisson2d<double>(20, random_scaling{3});
    compare_applied(group, poisson, 3, "gmres", "chebyshev:degree=5", 2);
    compare_applied(group, poisson, 3, "gmres", "spai", 3);
    compare_applied<float>(group, poisson2d<float>(12), 4, "gmres", "amg", 2);
    // Several cycles, each of which M ends.
    column_solver<double> solve(group, csr_view<double>(flow), 5,
                                {.solver = "gmres", .preconditioner = "amg:degree=1"},
                                {.restart = 4});
    REQUIRE(solve.one_by_one_because() == "");
    const std::vector<double> b = random_columns<double>(flow.rows, 5);
    std::vector<double> x(b.size());
    for (const solve_result& result : solve.solve(b, x)) {
        INFO(result.diagnosis);
        CHECK(result.converged());
        CHECK(result.iterations > 4);
    }
}

KRYLITH_GROUP_TEST("joint loops: no column harms another in M") {
    const auto matrix = poisson2d<double>(16);
    const auto n = static_cast<std::size_t>(matrix.rows);
    const double sizes[] = {1, 1e60, 1e-60, 0, 1e200, 1};
    for (const char* const solver : {"cg", "minres", "bicgstab", "gmres"}) {
        INFO(std::string(solver));
        std::vector<double> b = random_columns<double>(matrix.rows, 6);
        for (std::size_t i = 0; i < b.size(); ++i) b[i] *= sizes[i / n];
        std::vector<double> x(b.size());
        // What a column starts from may be no number.
        std::fill_n(x.begin() + static_cast<std::ptrdiff_t>(5 * n), n,
                    std::numeric_limits<double>::infinity());
        column_solver<double> solve(group, csr_view<double>(matrix), 6,
                                    {.solver = solver, .preconditioner = "amg"},
                                    {.initial_guess = true});
        REQUIRE(solve.one_by_one_because() == "");
        const auto results = solve.solve(b, x);
        for (const std::size_t j : {0U, 1U, 2U, 3U, 4U}) {
            INFO("column " << j << ": " << results[j].diagnosis);
            CHECK(results[j].converged());
            CHECK(results[j].relative_residual() <= 1e-8);
        }
        CHECK(results[3].iterations == 0);
        CHECK(results[5].reason == reason::not_a_number);
    }
}

KRYLITH_GROUP_TEST("joint loops: what is wrong with an M of all columns") {
    const auto flow = convection_diffusion<double>(8, 20);
    const auto refused = [&](const char* solver, const char* m) {
        (void)column_solver<double>(group, csr_view<double>(flow), 3,
                                    {.solver = solver, .preconditioner = m});
    };
    CHECK_THROWS_WITH_AS(refused("cg", "amg"), doctest::Contains("is not symmetric"), usage_error);
    auto indefinite = poisson2d<double>(6);
    for (auto at = static_cast<std::size_t>(indefinite.row_offsets[5]);
         at < static_cast<std::size_t>(indefinite.row_offsets[6]); ++at)
        if (indefinite.column_indices[at] == 5) indefinite.values[at] = -4;
    CHECK_THROWS_AS((void)column_solver<double>(group, csr_view<double>(indefinite), 3,
                                                {.solver = "cg", .preconditioner = "amg"}),
                    input_error);
    const auto definite = poisson2d<double>(9);
    column_solver<double> limited(group, csr_view<double>(definite), 2,
                                  {.solver = "cg", .preconditioner = "amg"}, {.max_iterations = 1});
    const std::vector<double> b = random_columns<double>(definite.rows, 2);
    std::vector<double> x(b.size());
    for (const solve_result& result : limited.solve(b, x)) {
        CHECK(result.reason == reason::max_iterations);
        CHECK(result.iterations == 1);
    }
}

KRYLITH_GROUP_TEST("joint loops: the choice by facts takes M of all columns") {
    // The least matrix for which multigrid is chosen has a million rows: chebyshev is named here.
    const auto matrix = poisson2d<double>(40);
    column_solver<double> solve(group, csr_view<double>(matrix), 5,
                                {.solver = "auto", .preconditioner = "chebyshev"});
    CHECK(solve.one_by_one_because() == "");
    CHECK(solve.preconditioner_name().starts_with("chebyshev"));
    const std::vector<double> b = random_columns<double>(matrix.rows, 5);
    std::vector<double> x(b.size());
    for (const solve_result& result : solve.solve(b, x)) {
        CHECK(result.converged());
        REQUIRE(result.attempts.size() == 1);
        CHECK(result.attempts.front().preconditioner == solve.preconditioner_name());
    }
}

} // namespace krylith
