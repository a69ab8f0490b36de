// Several right-hand sides by whatever suits them: at once, or one after another.
#include <cmath>
#include <limits>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/solvers/column_solver.hpp>
#include <krylith/solvers/solver_table.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/matrices.hpp>
#include <krylith/tests/support/random.hpp>

namespace krylith {

using testing::random_columns;

namespace {

/// Returns the largest ||b - A x|| / ||b|| of all columns, by plain loops.
double worst_residual(const csr_matrix<double>& a, const std::vector<double>& x,
                      const std::vector<double>& b) {
    const auto rows = static_cast<std::size_t>(a.rows);
    const auto width = static_cast<std::size_t>(a.columns);
    double worst = 0;
    for (std::size_t j = 0; j < b.size() / rows; ++j) {
        double rr = 0;
        double bb = 0;
        for (std::size_t row = 0; row < rows; ++row) {
            double r = b[j * rows + row];
            bb += r * r;
            for (auto at = static_cast<std::size_t>(a.row_offsets[row]);
                 at < static_cast<std::size_t>(a.row_offsets[row + 1]); ++at)
                r -= a.values[at] * x[j * width + static_cast<std::size_t>(a.column_indices[at])];
            rr += r * r;
        }
        worst = std::fmax(worst, std::sqrt(rr / bb));
    }
    return worst;
}

} // namespace

KRYLITH_GROUP_TEST("column_solver: cg, gmres, jacobi and what auto takes for them solve at once") {
    const auto matrix = poisson2d<double>(19, random_scaling{3});
    const auto b = random_columns<double>(matrix.rows, 5);
    for (const column_method& method :
         {column_method{"cg", "jacobi"}, column_method{"cg", "none"}, column_method{"auto", "auto"},
          column_method{"auto", "jacobi"}, column_method{"gmres", "jacobi"}}) {
        INFO(method.solver << " with " << method.preconditioner);
        std::vector<double> x(b.size());
        column_solver<double> solver(group, matrix, 5, method);
        CHECK(solver.one_by_one_because().empty());
        CHECK(solver.columns_a_loop() == 8);
        CHECK(solver.solver_name() == (method.solver == "gmres" ? "gmres" : "cg"));
        CHECK(solver.preconditioner_name() ==
              (method.preconditioner == "none" ? "none" : "jacobi"));
        const auto results = solver.solve(b, x);
        REQUIRE(results.size() == 5);
        for (const solve_result& result : results) {
            CHECK(result.converged());
            CHECK(result.attempts.size() == (method.solver == "auto" ? 1 : 0));
        }
        CHECK(worst_residual(matrix, x, b) <= 1.01e-8);
    }
}

KRYLITH_GROUP_TEST("column_solver: what has no joint loop is solved one after another") {
    const auto matrix = poisson2d<double>(15, random_scaling{3});
    const auto b = random_columns<double>(matrix.rows, 3);
    for (const solver_method* const row : all_solvers) {
        if (row->for_comparison || !row->runs_everywhere || row->least_squares) continue;
        INFO(std::string(row->name));
        std::vector<double> x(b.size());
        column_solver<double> solver(group, matrix, 3,
                                     {.solver = std::string(row->name), .at_once = false});
        CHECK(solver.one_by_one_because() == "it was asked for");
        CHECK(solver.columns_a_loop() == 1);
        for (const solve_result& result : solver.solve(b, x)) CHECK(result.converged());
        CHECK(worst_residual(matrix, x, b) <= 1.01e-8);
    }
    const auto because = [&](const column_method& method, const operator_options& multiply = {}) {
        return column_solver<double>(group, matrix, 3, method, {}, multiply).one_by_one_because();
    };
    CHECK(because({"idr"}) == "solver idr has no loop for several right-hand sides");
    for (const char* const solver : {"bicgstab", "gmres"}) {
        CHECK(because({solver, "jacobi"}) == "");
        CHECK(column_solver<double>(group, matrix, 3, {solver, "jacobi"},
                                    {.preconditioning = side::left})
                  .one_by_one_because() ==
              "preconditioners on side left are for one right-hand side at a time");
    }
    CHECK(because({"cg:launched"}) ==
          "solver cg:launched has no loop for several right-hand sides");
    CHECK(because({"cg", "ic0"}).starts_with("preconditioner ic0 is not applied"));
    CHECK(because({"cg", "chebyshev"}) == "");
    CHECK(because({"cg", "jacobi"}, {.kind = operators::nz}) == "operator nz was asked for");
    CHECK(because({"cg", "jacobi"}, {.order = orders::rcm}) == "row order rcm was asked for");
    CHECK(column_solver<double>(group, matrix, 1, {"cg"}).one_by_one_because() ==
          "there is one column");
}

KRYLITH_GROUP_TEST("column_solver: least squares, a column after the other") {
    // 4 x 2, columns orthogonal and of norm sqrt(3): x = A'b / 3.
    csr_matrix<double> matrix;
    matrix.rows = 4;
    matrix.columns = 2;
    matrix.row_offsets = {0, 1, 2, 4, 6};
    matrix.column_indices = {0, 1, 0, 1, 0, 1};
    matrix.values = {1, 1, 1, 1, 1, -1};
    const std::vector<double> b = {1, 0, 1, 0, 0, 2, 0, 1};
    std::vector<double> x(4, 9.0);
    column_solver<double> solver(group, matrix, 2);
    CHECK(solver.solver_name() == "lsqr");
    for (const solve_result& result : solver.solve(b, x)) CHECK(result.converged());
    const double expected[] = {2.0 / 3, 1.0 / 3, 1.0 / 3, 1.0 / 3};
    for (std::size_t i = 0; i < 4; ++i) CHECK(x[i] == doctest::Approx(expected[i]));

    // x = A'b / (3 + d^2)
    solver_options damped;
    damped.damping = 1;
    column_solver<double> with_damping(group, matrix, 2, {}, damped);
    for (const solve_result& result : with_damping.solve(b, x)) CHECK(result.converged());
    for (std::size_t i = 0; i < 4; ++i) CHECK(x[i] == doctest::Approx(0.75 * expected[i]));
    const auto square = testing::from_dense({{2, 0}, {0, 3}});
    column_solver<double> also_square(group, square, 2, {}, damped);
    CHECK(also_square.solver_name() == "lsqr");
    CHECK_THROWS_AS(column_solver<double>(group, square, 2, {"cg", "none"}, damped), usage_error);
}

KRYLITH_GROUP_TEST("column_solver: a matrix without rows, whose columns x alone tells") {
    const csr_matrix<double> empty{0, 3, {0}, {}, {}};
    std::vector<double> x(6, 5.0);
    const auto results = solve_columns(group, empty, {}, x);
    REQUIRE(results.size() == 2);
    for (const solve_result& result : results) CHECK(result.converged());
    CHECK(x == std::vector<double>(6, 0.0));
    std::vector<double> four(4);
    CHECK_THROWS_WITH_AS((void)solve_columns(group, empty, {}, four), doctest::Contains("x has 4"),
                         usage_error);
}

KRYLITH_GROUP_TEST("column_solver: auto solves alone what the joint loop could not") {
    // Auto sees nothing that speaks against cg, but -0.2 is an eigenvalue: cg fails for a
    // right-hand side that has a part of its vector.
    const auto matrix = testing::from_dense({{1, 0, 0, 0, 0},
                                             {0, 2, 0, 0, 0},
                                             {0, 0, 1, -0.6, -0.6},
                                             {0, 0, -0.6, 1, -0.6},
                                             {0, 0, -0.6, -0.6, 1}});
    const std::vector<double> b = {1, 2, 0, 0, 0, 0, 0, 1, 1, 1};
    std::vector<double> x(10);
    column_solver<double> by_cg(group, matrix, 2, {"cg"});
    const auto failed = by_cg.solve(b, x);
    CHECK(failed[0].converged());
    CHECK(failed[1].reason == reason::indefinite_matrix);
    column_solver<double> solver(group, matrix, 2);
    CHECK(solver.one_by_one_because() == "");
    const auto results = solver.solve(b, x);
    CHECK(results[0].converged());
    CHECK(results[0].attempts.size() == 1);
    CHECK(results[1].converged());
    CHECK(results[1].attempts.back().solver != "cg");
    for (std::size_t i = 7; i < 10; ++i) CHECK(x[i] == doctest::Approx(-5));
}

KRYLITH_GROUP_TEST("column_solver: columns whose squares leave the range are scaled in the loop") {
    const auto matrix = testing::laplace_1d(12);
    std::vector<double> b(24, 1.0);
    for (std::size_t i = 12; i < 24; ++i) b[i] = 1e-200;
    std::vector<double> x(24);
    column_solver<double> solver(group, matrix, 2, {"cg"});
    const auto results = solver.solve(b, x);
    CHECK(results[0].converged());
    CHECK(results[1].converged());
    CHECK(x[12] == doctest::Approx(1e-200 * x[0]));
    CHECK(solver.single_operator() == nullptr);
}

KRYLITH_GROUP_TEST("column_solver: stops, times and failures concern all columns") {
    const auto matrix = poisson2d<double>(40);
    const auto b = random_columns<double>(matrix.rows, 3);
    std::vector<double> x(b.size());
    for (const bool at_once : {true, false}) {
        column_solver<double> solver(group, matrix, 3, {.solver = "cg", .at_once = at_once});
        solver.options().max_seconds = 0;
        for (const solve_result& result : solver.solve(b, x))
            CHECK(result.reason == reason::time_limit);
        std::stop_source source;
        source.request_stop();
        solver.options() = {.stop = source.get_token()};
        for (const solve_result& result : solver.solve(b, x))
            CHECK(result.reason == reason::interrupted);
        solver.options() = {.max_iterations = 2, .on_failure = failure_policy::throw_error};
        CHECK_THROWS_AS((void)solver.solve(b, x), not_converged);
        solver.options() = {};
        CHECK(solver.solve(b, x).back().converged());
        CHECK(worst_residual(matrix, x, b) <= 1.01e-8);
        solver.options().initial_guess = true;
        for (const solve_result& result : solver.solve(b, x)) CHECK(result.iterations == 0);
    }
}

TEST_CASE("column_solver: what it refuses") {
    const auto group = device_group::host(1);
    const auto matrix = testing::laplace_1d(4);
    CHECK_THROWS_WITH_AS(column_solver<double>(group, matrix, 0), doctest::Contains("columns is 0"),
                         usage_error);
    CHECK_THROWS_WITH_AS(column_solver<double>(group, matrix, 2, {"gmress"}),
                         doctest::Contains("gmres"), usage_error);
    CHECK_THROWS_WITH_AS(column_solver<double>(group, matrix, 2, {"cg", "jacoby"}),
                         doctest::Contains("jacobi"), usage_error);
    std::vector<double> x(8);
    column_solver<double> solver(group, matrix, 2, {"cg"});
    CHECK_THROWS_WITH_AS((void)solver.solve(std::vector<double>(6), x),
                         doctest::Contains("b has 6 entries and x has 8"), usage_error);
    std::vector<double> b(8, 1.0);
    b[5] = std::numeric_limits<double>::infinity();
    CHECK_THROWS_WITH_AS((void)solver.solve(b, x),
                         doctest::Contains("entry 1 of right-hand side 1 (counted from 0) is inf"),
                         input_error);
}

TEST_CASE("solve_columns: one call") {
    const auto matrix = testing::laplace_1d(30);
    const auto b = random_columns<double>(30, 4);
    std::vector<double> x(b.size());
    const auto results = solve_columns(device_group::host(2), matrix, b, x);
    REQUIRE(results.size() == 4);
    CHECK(worst_residual(matrix, x, b) <= 1.01e-8);
    CHECK(solve_columns(device_group::host(1), matrix, {}, {}).empty());
}

} // namespace krylith
