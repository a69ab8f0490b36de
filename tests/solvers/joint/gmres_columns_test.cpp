// The joint loop of GMRES: columns are solved as gmres() solves them, over cycles of a basis.
#include <algorithm>
#include <cmath>
#include <limits>
#include <stop_token>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>

#include <krylith/tests/solvers/joint/joint_comparison.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/matrices.hpp>

namespace krylith {

using testing::compare;
using testing::make_joint_solver;

namespace {

constexpr auto without_m = joint_preconditioner::none;
constexpr auto with_jacobi = joint_preconditioner::jacobi;

std::vector<solve_result> solve_at_once(const device_group& group, const csr_matrix<double>& matrix,
                                        const std::vector<double>& b, std::vector<double>& x,
                                        const solver_options& options = {}) {
    const auto columns = static_cast<int>(b.size()) / static_cast<int>(matrix.rows);
    return make_joint_solver<double>("gmres", group, matrix, columns, without_m, options)
        ->solve(b, x);
}

/// What gmres() says of one column.
solve_result solve_alone(const device_group& group, const csr_matrix<double>& matrix,
                         const std::vector<double>& b, const solver_options& options = {}) {
    const auto a = make_operator(group, matrix);
    auto rhs = a->make_range_vector();
    auto x = a->make_range_vector();
    rhs.upload(b);
    return find_solver("gmres").solve(*a, rhs, x, options, {});
}

std::vector<double> joined(std::initializer_list<std::vector<double>> columns) {
    std::vector<double> all;
    for (const auto& column : columns) all.insert(all.end(), column.begin(), column.end());
    return all;
}

} // namespace

KRYLITH_GROUP_TEST("joint gmres: each column is solved as if it were alone") {
    const auto matrix = convection_diffusion<double>(7, 20, random_scaling{1});
    for (const int k : {1, 2, 3, 8, 16, 19})
        compare(group, matrix, k, with_jacobi, 1e-8, "gmres", "gmres", 2);
    compare(group, convection_diffusion<double>(6, 5), 4, without_m, 1e-8, "gmres", "gmres", 2);
    compare(group, helmholtz2d<double>(14, 12), 3, without_m, 1e-8, "gmres", "gmres", 2,
            {.restart = 150});
    for (const auto m : {without_m, with_jacobi})
        compare<float>(group, convection_diffusion<float>(6, 5), 4, m, 1e-5, "gmres", "gmres", 2);
}

KRYLITH_GROUP_TEST("joint gmres: short cycles, long ones, and more basis vectors than rows") {
    const auto matrix = convection_diffusion<double>(6, 20, random_scaling{1});
    for (const int restart : {1, 2, 5, 12, 13, 25})
        for (const int k : {2, 5}) {
            INFO("restart " << restart);
            // Rounding grows from cycle to cycle.
            compare(group, matrix, k, with_jacobi, 1e-8, "gmres", "gmres", restart < 5 ? 8 : 4,
                    {.restart = restart});
        }
    compare(group, poisson2d<double>(24, random_scaling{4}), 2, without_m, 1e-10, "gmres", "gmres",
            2, {.rtol = 1e-10, .restart = 400});
    for (const int n : {1, 2, 5})
        compare(group, testing::laplace_1d(n), 4, without_m, 1e-8, "gmres", "gmres", 1);
}

KRYLITH_GROUP_TEST("joint gmres: columns step on their own, each for as long as it has to") {
    std::vector<double> diagonal(40);
    for (std::size_t i = 0; i < 40; ++i) diagonal[i] = 1.0 + static_cast<double>(i % 13);
    const auto matrix = testing::diagonal_matrix(diagonal);
    for (const int restart : {4, 30}) {
        // Column j has parts of j eigenvectors, and is solved in j steps.
        std::vector<double> b(40 * 13, 0.0);
        for (std::size_t j = 0; j < 13; ++j)
            for (std::size_t i = 0; i < j; ++i) b[40 * j + i] = 1.0 + static_cast<double>(i);
        std::vector<double> x(b.size(), 3.0);
        const auto results = solve_at_once(group, matrix, b, x, {.restart = restart});
        for (std::size_t j = 0; j < 13; ++j) {
            INFO("column " << j << " " << results[j].diagnosis);
            CHECK(results[j].converged());
            CHECK(results[j].replacements == 0);
            if (j <= static_cast<std::size_t>(restart))
                CHECK(results[j].iterations == static_cast<std::int64_t>(j));
            for (std::size_t i = 0; i < 40; ++i)
                CHECK(x[40 * j + i] ==
                      doctest::Approx(b[40 * j + i] / diagonal[i]).epsilon(1e-6).scale(1));
        }
    }
}

KRYLITH_GROUP_TEST("joint gmres: complete spaces, zeros, NaN and numbers out of range") {
    const auto matrix = testing::diagonal_matrix({1, 2, -1, 4});
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const auto b = joined({{0, 3, 0, 0}, // an eigenvector
                           {0, 0, 0, 0},
                           {1, nan, 0, 0},
                           {1e160, 0, 0, 0},
                           {1, 2, 3, 4},
                           {0, 0, 5, 5}});
    std::vector<double> x(b.size(), 3);
    const auto results = solve_at_once(group, matrix, b, x);
    CHECK(results.at(0).reason == reason::happy_breakdown);
    CHECK(results.at(0).iterations == 1);
    CHECK(x[1] == doctest::Approx(1.5));
    CHECK(results.at(1).converged());
    CHECK(results.at(1).iterations == 0);
    CHECK(x[5] == 0);
    CHECK(results.at(2).reason == reason::not_a_number);
    CHECK(results.at(3).reason == reason::happy_breakdown);
    CHECK(x[12] == doctest::Approx(1e160));
    CHECK(results.at(4).converged());
    CHECK(results.at(4).iterations <= 4);
    CHECK(x[18] == doctest::Approx(-3));
    CHECK(results.at(5).converged());
    CHECK(results.at(5).iterations == 2);
    CHECK(x[23] == doctest::Approx(1.25));
    CHECK_THROWS_AS(
        (void)solve_at_once(group, matrix, b, x, {.on_failure = failure_policy::throw_error}),
        not_converged);

    // What a NaN has left in its column doesn't reach the next solve.
    const auto solver = make_joint_solver<double>("gmres", group, matrix, 6, without_m);
    (void)solver->solve(b, x);
    const std::vector<double> finite(24, 1.0);
    for (const solve_result& result : solver->solve(finite, x)) CHECK(result.converged());

    const auto identity = testing::diagonal_matrix(std::vector<double>(9, 1.0));
    std::vector<double> right(27, 2.0);
    std::vector<double> same(27);
    for (const solve_result& result : solve_at_once(group, identity, right, same))
        CHECK(result.reason == reason::happy_breakdown);
    CHECK(same == right);
}

KRYLITH_GROUP_TEST("joint gmres: a column whose products would overflow is scaled by itself") {
    // Squares of the third column are within range.
    const auto matrix = testing::diagonal_matrix({1e300, 1, 2, 3});
    const auto b = joined({{0, 1, 2, 3}, {1e30, 1, 2, 3}, {0, 3, 2, 1}});
    std::vector<double> x(b.size());
    const auto results = solve_at_once(group, matrix, b, x);
    for (const solve_result& result : results) CHECK(result.converged());
    CHECK(x[2] == doctest::Approx(1));
    CHECK(x[4] == doctest::Approx(1e-270));
}

KRYLITH_GROUP_TEST("joint gmres: singular systems end as they do alone") {
    // diag(1, 2, 0, 3): solvable where the third entry of b is 0. The last: a nilpotent matrix.
    const auto singular = testing::diagonal_matrix({1, 2, 0, 3});
    const auto nilpotent = testing::from_dense({{0, 1, 0}, {0, 0, 1}, {0, 0, 0}});
    struct system {
        csr_matrix<double> matrix;
        std::vector<std::vector<double>> columns;
    };
    const system systems[] = {{singular, {{1, 2, 0, 3}, {1, 1, 1, 1}, {0, 0, 1, 0}}},
                              {nilpotent, {{1, 0, 0}, {0, 0, 1}, {1, 1, 0}}},
                              {testing::diagonal_matrix({0}), {{1}, {0}, {2}}}};
    for (const system& s : systems) {
        std::vector<double> b;
        for (const auto& column : s.columns) b.insert(b.end(), column.begin(), column.end());
        std::vector<double> x(b.size());
        const auto results = solve_at_once(group, s.matrix, b, x);
        for (std::size_t j = 0; j < results.size(); ++j) {
            INFO(s.matrix.rows << " rows, column " << j);
            const auto alone = solve_alone(group, s.matrix, s.columns[j]);
            CHECK(results[j].reason == alone.reason);
            CHECK(results[j].diagnosis.empty() == results[j].converged());
            CHECK(results[j].true_residual == doctest::Approx(alone.true_residual).scale(1));
            CHECK(results[j].replacements == 0);
        }
    }
}

KRYLITH_GROUP_TEST("joint gmres: slow cycles are no stagnation") {
    // A chain: short cycles bring the residual down by little each.
    const auto matrix = testing::laplace_1d(16);
    const std::vector<double> b(32, 1.0);
    std::vector<double> x(32);
    const solver_options options{.max_iterations = 200, .restart = 3};
    const auto alone = solve_alone(group, matrix, std::vector<double>(16, 1.0), options);
    for (const solve_result& result : solve_at_once(group, matrix, b, x, options)) {
        CHECK(result.reason == alone.reason);
        CHECK(std::abs(result.iterations - alone.iterations) <= 6);
        CHECK(result.replacements == 0);
    }
}

KRYLITH_GROUP_TEST("joint gmres: limits, stops, starts and forms") {
    const auto matrix = poisson2d<double>(20);
    const auto n = static_cast<std::size_t>(matrix.rows);
    std::vector<double> b(2 * n, 1.0);
    std::vector<double> x(b.size());
    for (const int limit : {0, 1, 7, 10, 12})
        for (const auto mode : {execution_mode::automatic, execution_mode::eager}) {
            const solver_options options{.max_iterations = limit, .restart = 5, .mode = mode};
            for (const solve_result& result : solve_at_once(group, matrix, b, x, options)) {
                CHECK(result.reason == reason::max_iterations);
                CHECK(result.iterations == limit);
                CHECK(result.true_residual <= std::sqrt(static_cast<double>(n)));
            }
        }
    const auto usual = solve_at_once(group, matrix, b, x, {.restart = 20});
    CHECK(usual.at(0).converged());
    for (const solver_options& options :
         {solver_options{.restart = 20, .max_seconds = 1e6},
          solver_options{.restart = 20, .mode = execution_mode::eager}}) {
        const auto other = solve_at_once(group, matrix, b, x, options);
        for (std::size_t j = 0; j < 2; ++j) CHECK(other[j].iterations == usual[j].iterations);
    }
    std::fill(x.begin() + static_cast<std::ptrdiff_t>(n), x.end(), 0.0);
    const auto warm = solve_at_once(group, matrix, b, x, {.restart = 20, .initial_guess = true});
    CHECK(warm.at(0).converged());
    CHECK(warm.at(0).iterations == 0); // x was its solution
    CHECK(warm.at(1).iterations == usual.at(1).iterations);
    CHECK(solve_at_once(group, matrix, b, x, {.max_seconds = 0}).at(1).reason ==
          reason::time_limit);
    std::stop_source source;
    source.request_stop();
    CHECK(solve_at_once(group, matrix, b, x, {.stop = source.get_token()}).at(0).reason ==
          reason::interrupted);
}

} // namespace krylith
