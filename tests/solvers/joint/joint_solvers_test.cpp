// Joint loops: every column is solved as if it were alone.
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>

#include <krylith/tests/solvers/joint/joint_comparison.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/matrices.hpp>
#include <krylith/tests/support/random.hpp>

namespace krylith {

using testing::compare;
using testing::joint;
using testing::make_joint_solver;
using testing::random_values;
using testing::relative_residual;

namespace {

/// The joint loop of cg.
joint<double> joint_cg_for(const device_group& group, const csr_matrix<double>& matrix, int k,
                           joint_preconditioner m = joint_preconditioner::none,
                           const solver_options& options = {}) {
    return make_joint_solver<double>("cg", group, matrix, k, m, options);
}

} // namespace

KRYLITH_GROUP_TEST("joint loops: each column is solved as if it were alone") {
    const auto matrix = poisson2d<double>(17, random_scaling{4});
    for (const int k : {1, 2, 3, 8, 16, 19})
        compare(group, matrix, k, joint_preconditioner::none, 1e-8);
    compare(group, matrix, 5, joint_preconditioner::jacobi, 1e-8);
}

KRYLITH_GROUP_TEST("joint loops: bicgstab solves each column as if it were alone") {
    const auto matrix = convection_diffusion<double>(7, 20, random_scaling{1});
    for (const int k : {2, 7, 16})
        compare(group, matrix, k, joint_preconditioner::jacobi, 1e-8, "bicgstab", "bicgstab", 3);
    const auto even = convection_diffusion<double>(6, 5);
    compare(group, even, 3, joint_preconditioner::none, 1e-8, "bicgstab", "bicgstab", 3);
    compare<float>(group, convection_diffusion<float>(6, 5), 4, joint_preconditioner::jacobi, 1e-5,
                   "bicgstab", "bicgstab", 3);
}

KRYLITH_GROUP_TEST("joint loops: bicgstab's columns break down and stop on their own") {
    // A rotation: r0'A r0 = 0 for every b of the first two unknowns, while the third is solved.
    const auto matrix = testing::from_dense({{0, 1, 0}, {-1, 0, 0}, {0, 0, 2}});
    const std::vector<double> b = {1, 0, 0, 0, 0, 4, 0, 0, 0, 0, 1, 0};
    std::vector<double> x(b.size(), 5.0);
    const auto results = make_joint_solver<double>("bicgstab", group, matrix, 4)->solve(b, x);
    CHECK(results.at(0).reason == reason::breakdown);
    CHECK(!results.at(0).diagnosis.empty());
    CHECK(results.at(1).converged());
    CHECK(x[5] == doctest::Approx(2));
    CHECK(results.at(2).converged());
    CHECK(results.at(2).iterations == 0);
    CHECK(results.at(3).reason == reason::breakdown);
}

KRYLITH_GROUP_TEST("joint loops: minres solves each column as if it were alone") {
    const auto indefinite = helmholtz2d<double>(14, 12);
    for (const int k : {2, 7, 16})
        compare(group, indefinite, k, joint_preconditioner::none, 1e-8, "minres", "minres", 3);
    const auto definite = poisson2d<double>(17, random_scaling{4});
    compare(group, definite, 3, joint_preconditioner::jacobi, 1e-8, "minres", "minres", 3);
    compare<float>(group, poisson2d<float>(12, random_scaling{4}), 4, joint_preconditioner::jacobi,
                   1e-5, "minres", "minres", 3);
}

KRYLITH_GROUP_TEST("joint loops: minres' columns stop on their own, each for its reason") {
    // diag(1, 0, -3): the second unknown has no solution but for b = 0 there.
    const auto matrix = testing::from_dense({{1, 0, 0}, {0, 0, 0}, {0, 0, -3}});
    const std::vector<double> b = {1, 0, 3, 1, 1, 0, 0, 0, 0, 0, 0, 6};
    std::vector<double> x(b.size(), 5.0);
    const auto results = make_joint_solver<double>("minres", group, matrix, 4)->solve(b, x);
    CHECK(results.at(0).converged());
    CHECK(results.at(0).iterations == 2);
    CHECK(x[2] == doctest::Approx(-1));
    CHECK(results.at(1).reason == reason::stagnated);
    CHECK(x[3] == doctest::Approx(1)); // of least residual
    CHECK(results.at(2).converged());
    CHECK(results.at(3).converged());
    CHECK(results.at(3).iterations == 1);
    // M must be definite.
    const auto wrong = make_joint_solver<double>("minres", group, testing::diagonal_matrix({1, -1}),
                                                 2, joint_preconditioner::jacobi)
                           ->solve(std::vector<double>{0, 1, 1, 0}, std::span(x).first(4));
    CHECK(wrong.at(0).reason == reason::indefinite_preconditioner);
    CHECK(wrong.at(1).converged());
}

KRYLITH_GROUP_TEST("joint loops: single precision") {
    const auto matrix = poisson2d<float>(12, random_scaling{4});
    compare(group, matrix, 4, joint_preconditioner::jacobi, 1e-5);
}

KRYLITH_GROUP_TEST("joint loops: columns stop on their own, each for its reason") {
    // diag(1, 2, -1): the third unknown makes the matrix indefinite for right-hand sides with it.
    const auto matrix = testing::diagonal_matrix({1, 2, -1, 4});
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const std::vector<double> b = {1, 0,   0, 0, // solved in one step
                                   1, 2,   0, 4, // in three
                                   0, 0,   1, 0, // p'Ap < 0
                                   0, 0,   0, 0, // x = 0
                                   0, nan, 0, 0};
    std::vector<double> x(b.size(), 3);
    const auto results = joint_cg_for(group, matrix, 5)->solve(b, x);
    CHECK(results.at(0).reason == reason::converged_rtol);
    CHECK(results.at(0).iterations == 1);
    CHECK(x[0] == 1);
    CHECK(results.at(1).converged());
    CHECK(x[5] == doctest::Approx(1));
    CHECK(x[7] == doctest::Approx(1));
    CHECK(results.at(2).reason == reason::indefinite_matrix);
    CHECK(!results.at(2).diagnosis.empty());
    CHECK(results.at(3).converged());
    CHECK(results.at(3).iterations == 0);
    CHECK(x[12] == 0);
    CHECK(results.at(4).reason == reason::not_a_number);
    CHECK_THROWS_AS((void)joint_cg_for(group, matrix, 5, joint_preconditioner::none,
                                       {.on_failure = failure_policy::throw_error})
                        ->solve(b, x),
                    not_converged);
}

KRYLITH_GROUP_TEST("joint loops: starts, limits, one row, no column, a singular matrix") {
    const auto matrix = testing::laplace_1d(40);
    std::vector<double> b(80, 1.0);
    std::vector<double> x(80, 0.0);
    (void)joint_cg_for(group, matrix, 2)->solve(b, x);
    const auto warm =
        joint_cg_for(group, matrix, 2, joint_preconditioner::none, {.initial_guess = true});
    for (std::size_t i = 40; i < 80; ++i) x[i] = 0; // the first column starts at its solution
    const auto started = warm->solve(b, x);
    CHECK(started.at(0).iterations == 0);
    CHECK(started.at(0).converged());
    CHECK(started.at(1).iterations > 0);
    CHECK(started.at(1).converged());
    const auto limited =
        joint_cg_for(group, matrix, 2, joint_preconditioner::none, {.max_iterations = 3});
    CHECK(limited->solve(b, x).at(1).reason == reason::max_iterations);
    CHECK(limited->solve({}, {}).empty());
    std::vector<double> two = {6, 8};
    std::vector<double> halves(2);
    CHECK(joint_cg_for(group, testing::diagonal_matrix({2}), 2)
              ->solve(two, halves)
              .at(1)
              .converged());
    CHECK(halves == std::vector<double>{3, 4});
    // 0 x = b has no solution: p'Ap = 0 says so.
    const auto singular = joint_cg_for(group, testing::diagonal_matrix({0}), 2)->solve(two, halves);
    CHECK(singular.at(0).reason == reason::indefinite_matrix);
}

KRYLITH_GROUP_TEST(
    "joint loops: one kernel where it fits, or four an iteration, with one outcome") {
    const auto matrix = poisson3d<double>(9, random_scaling{2});
    const auto n = static_cast<std::size_t>(matrix.rows);
    const bool one_gpu = group.kind() == backend::cuda && group.size() == 1;
    for (const int k : {2, 5, 16}) {
        for (const auto m : {joint_preconditioner::none, joint_preconditioner::jacobi}) {
            INFO(k << " columns");
            std::vector<double> b;
            for (int j = 0; j < k; ++j) // the columns stop one after the other
                for (const double value : random_values<double>(matrix.rows, 60 + j))
                    b.push_back(j % 3 == 1 ? 0 : value);
            const auto solved = [&](const solver_options& options, const char* form) {
                std::vector<double> x(b.size());
                const auto solver = joint_cg_for(group, matrix, k, m, options);
                const auto results = solver->solve(b, x);
                for (std::size_t j = 0; j < results.size(); ++j) {
                    CHECK(results[j].form == form);
                    CHECK(results[j].converged());
                    CHECK(relative_residual<double>(
                              matrix, std::span<const double>(x.data() + j * n, n),
                              std::span<const double>(b.data() + j * n, n)) <= 1.01e-8);
                }
                return results;
            };
            const auto usual = solved({}, one_gpu ? "persistent" : "launched");
            const auto launched = solved({.mode = execution_mode::eager}, "launched");
            for (std::size_t j = 0; j < usual.size(); ++j)
                CHECK(std::abs(usual[j].iterations - launched[j].iterations) <= 1);
            // Watched solves stop now and then to look, and go on as if they had not.
            const auto watched = solved({.max_seconds = 1e6}, one_gpu ? "persistent" : "launched");
            for (std::size_t j = 0; j < usual.size(); ++j)
                CHECK(watched[j].iterations == usual[j].iterations);
        }
    }
}

KRYLITH_GROUP_TEST("joint loops: limits end columns at the same iteration in every form") {
    const auto matrix = poisson2d<double>(60);
    std::vector<double> b(static_cast<std::size_t>(2 * matrix.rows), 1.0);
    std::vector<double> x(b.size());
    for (const auto mode : {execution_mode::automatic, execution_mode::eager}) {
        const auto solver = joint_cg_for(group, matrix, 2, joint_preconditioner::none,
                                         {.max_iterations = 21, .mode = mode});
        for (const solve_result& result : solver->solve(b, x)) {
            CHECK(result.reason == reason::max_iterations);
            CHECK(result.iterations == 21);
        }
    }
}

namespace {

/// Solves all columns, and checks that each x is that of one column of size 1, in units of 2^size.
template <class T>
void check_scales(const device_group& group, const csr_matrix<T>& matrix, const char* solver,
                  joint_preconditioner m, const std::vector<int>& sizes, int of_matrix) {
    const auto n = static_cast<std::size_t>(matrix.rows);
    const auto one = random_values<T>(matrix.rows, 77);
    auto scaled = matrix;
    for (T& value : scaled.values) value = std::ldexp(value, of_matrix);
    std::vector<T> b;
    for (const int size : sizes)
        for (const T value : one) b.push_back(std::ldexp(value, size));
    for (const bool guess : {false, true}) {
        std::vector<T> x;
        for (const int size : sizes) x.insert(x.end(), n, std::ldexp(T(1), size - of_matrix));
        const solver_options options{.initial_guess = guess};
        const auto k = static_cast<int>(sizes.size());
        const auto results = make_joint_solver(solver, group, scaled, k, m, options)->solve(b, x);
        for (std::size_t j = 0; j < sizes.size(); ++j) {
            INFO(solver << ", b of 2^" << sizes[j] << ", A of 2^" << of_matrix << ", guess "
                        << guess << ": " << results[j].diagnosis);
            CHECK(results[j].converged());
            CHECK(results[j].iterations > 0);
            CHECK(results[j].iterations == results[0].iterations);
            CHECK(std::ldexp(results[j].rhs_norm, -sizes[j]) ==
                  doctest::Approx(results[0].rhs_norm));
            for (std::size_t i = 0; i < n; ++i)
                CHECK(std::ldexp(x[j * n + i], of_matrix - sizes[j]) ==
                      doctest::Approx(std::ldexp(x[i], of_matrix - sizes[0]))
                          .epsilon(sizeof(T) == 8 ? 1e-7 : 1e-3));
        }
    }
}

} // namespace

KRYLITH_GROUP_TEST("joint loops: A and b of any size, column by column") {
    const auto matrix = poisson2d<double>(5, random_scaling{2});
    const auto single = poisson2d<float>(5, random_scaling{2});
    for (const char* solver : {"cg", "minres", "bicgstab", "gmres"})
        for (const auto m : {joint_preconditioner::none, joint_preconditioner::jacobi}) {
            for (const int of_matrix : {0, -600, 500})
                check_scales<double>(group, matrix, solver, m, {0, -30, -400, 300}, of_matrix);
            for (const int of_matrix : {0, -60})
                check_scales<float>(group, single, solver, m, {0, 20, -58, 50}, of_matrix);
        }
}

KRYLITH_GROUP_TEST("joint loops: b = 0 gives x = 0, whatever the guess and the columns beside it") {
    const auto matrix = testing::laplace_1d(6);
    std::vector<double> b(18, 0.0);
    std::fill(b.begin() + 6, b.begin() + 12, 1.0);
    for (const char* solver : {"cg", "minres", "bicgstab", "gmres"}) {
        std::vector<double> x(18, 1.0);
        const auto results =
            make_joint_solver<double>(solver, group, matrix, 3, joint_preconditioner::none,
                                      {.initial_guess = true})
                ->solve(b, x);
        INFO(solver);
        for (const std::size_t j : {0, 2}) {
            CHECK(results[j].converged());
            CHECK(results[j].iterations == 0);
            for (std::size_t i = 0; i < 6; ++i) CHECK(x[6 * j + i] == 0);
        }
        CHECK(results[1].converged());
    }
}

KRYLITH_GROUP_TEST("joint loops: minres judges by T, which the norm of b is no entry of") {
    for (const double size : {1e-13, 1.0, 1e13}) {
        std::vector<double> b(2, size);
        std::vector<double> x(2);
        for (const auto& result :
             make_joint_solver<double>("minres", group, testing::diagonal_matrix({1}), 2)
                 ->solve(b, x)) {
            CHECK(result.converged());
            CHECK(result.iterations == 1);
        }
        CHECK(x == b);
    }
}

KRYLITH_GROUP_TEST("joint loops: rounding that hides a residual is no convergence") {
    // Singular but for its rounding: the x of size 1e15 that a product takes for a solution is
    // none.
    const auto matrix = testing::from_dense(
        {{-0.1112795288033378, 0.16127952880333685}, {0.1112795288033368, -0.16127952880333785}});
    const std::vector<double> b(4, 1.0);
    for (const char* solver : {"bicgstab", "gmres"}) {
        std::vector<double> x(4);
        for (const auto& result :
             make_joint_solver<double>(solver, group, matrix, 2)->solve(b, x)) {
            INFO(solver << ": " << to_string(result.reason) << ", " << result.diagnosis);
            CHECK_FALSE(result.converged());
        }
    }
}

TEST_CASE("joint loops: what it refuses") {
    const auto group = device_group::host(1);
    const auto matrix = testing::laplace_1d(4);
    CHECK_THROWS_WITH_AS((void)joint_cg_for(group, matrix, 0), doctest::Contains("columns is 0"),
                         usage_error);
    CHECK_THROWS_WITH_AS(
        (void)joint_cg_for(group, matrix, 2, joint_preconditioner::none, {.history = true}),
        doctest::Contains("history is not available"), usage_error);
    const auto solver = joint_cg_for(group, matrix, 2);
    std::vector<double> b(6);
    std::vector<double> x(6);
    CHECK_THROWS_WITH_AS((void)solver->solve(b, x), doctest::Contains("b has 6 entries"),
                         usage_error);
    CHECK_THROWS_WITH_AS((void)joint_cg_for(group, testing::diagonal_matrix({1, 0}), 1,
                                            joint_preconditioner::jacobi),
                         doctest::Contains("diagonal entry of row 1"), input_error);
}

} // namespace krylith
