// The smallest systems, exact answers, starts, singular matrices.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <krylith/matrix/gallery.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/solves.hpp>
#include <krylith/tests/support/tables.hpp>

namespace krylith {

using testing::all_methods;
using testing::describe;
using testing::diagonal_matrix;
using testing::different_operators;
using testing::every_method;
using testing::from_dense;
using testing::laplace_1d;
using testing::method;
using testing::name_of;
using testing::problem;
using testing::random_values;
using testing::same_bits;
using testing::worth_running;

KRYLITH_GROUP_TEST("edges: no rows") {
    for (const auto kind : different_operators())
        for (const auto which : every_method) {
            if (!worth_running(which, kind)) continue;
            CAPTURE(name_of(which));
            problem<double> p(group, testing::from_triplets(0, {}), {}, {.kind = kind});
            for (const bool precondition : {false, true}) {
                const auto result = precondition ? p.solve_jacobi(which, {.history = true})
                                                 : p.solve(which, {.history = true});
                CHECK(result.converged());
                CHECK(result.iterations == 0);
                CHECK(result.true_residual == 0);
                CHECK(result.relative_residual() == 0);
                CHECK(result.history == std::vector<double>{0});
            }
        }
}

KRYLITH_GROUP_TEST("edges: one row") {
    for (const auto kind : different_operators())
        for (const auto which : every_method) {
            if (!worth_running(which, kind)) continue;
            CAPTURE(name_of(which));
            problem<double> p(group, diagonal_matrix({4}), {3}, {.kind = kind});
            CHECK(p.solve(which).converged());
            CHECK(p.solution() == std::vector<double>{0.75});
            CHECK(p.solve_jacobi(which).converged());
            CHECK(p.solution() == std::vector<double>{0.75});
            problem<double> zero(group, testing::from_triplets(1, {}), {3}, {.kind = kind});
            const auto hopeless = zero.solve(which);
            INFO(describe(hopeless));
            CHECK_FALSE(hopeless.converged());
        }
}

KRYLITH_GROUP_TEST("edges: b = 0 gives exactly 0, whatever the start") {
    const std::vector<double> none(33);
    for (const auto kind : different_operators())
        for (const auto which : every_method)
            for (const double start : {0.0, 1.0, std::nan("")}) {
                if (!worth_running(which, kind)) continue;
                CAPTURE(name_of(which));
                CAPTURE(start);
                problem<double> p(group, laplace_1d(33), none, {.kind = kind});
                const auto result =
                    p.solve_from(std::vector<double>(33, start), which, {.history = true});
                INFO(describe(result));
                CHECK(result.converged());
                CHECK(result.iterations == 0);
                CHECK(result.true_residual == 0);
                CHECK(result.rhs_norm == 0);
                CHECK(result.history == std::vector<double>{0});
                CHECK(same_bits(p.solution(), none));
            }
}

KRYLITH_GROUP_TEST("edges: A = I is solved exactly, in one iteration") {
    const auto b = random_values<double>(50, 101);
    for (const auto kind : different_operators())
        for (const auto which : every_method) {
            if (!worth_running(which, kind)) continue;
            CAPTURE(name_of(which));
            problem<double> p(group, testing::shift_matrix(50, 0), b, {.kind = kind});
            const auto result = p.solve(which);
            CHECK(result.converged());
            CHECK(result.iterations == 1);
            CHECK(p.relative_residual() <= 1e-15);
            CHECK(p.solve(which, {.rtol = 0}).iterations <=
                  3); // an exact 0 counts at once, or the solve ends soon after
        }
}

KRYLITH_GROUP_TEST("edges: an exact start costs no iteration and is not touched") {
    const auto x0 = std::vector<double>(40, 3.0);
    std::vector<double> b(40, 0.0); // A x0 for the 1D Laplacian, exact in floating point
    b.front() = b.back() = 3.0;
    for (const auto which : all_methods) {
        CAPTURE(name_of(which));
        problem<double> p(group, laplace_1d(40), b);
        const auto result = p.solve_from(x0, which, {.rtol = 0});
        CHECK(result.converged());
        CHECK(result.iterations == 0);
        CHECK(p.solution() == x0);
    }
}

KRYLITH_GROUP_TEST("edges: a warm start takes fewer iterations; without asking x is ignored") {
    const auto matrix = poisson2d<double>(16);
    const auto b = random_values<double>(matrix.rows, 102);
    for (const auto which : all_methods) {
        CAPTURE(name_of(which));
        problem<double> p(group, matrix, b);
        const auto cold = p.solve(which, {.rtol = 1e-4});
        const auto near = p.solution();
        const auto full = p.solve(which, {.rtol = 1e-8});
        const auto warm = p.solve_from(near, which, {.rtol = 1e-8, .history = true});
        INFO(describe(warm));
        CHECK(warm.converged());
        CHECK(p.relative_residual() <= 1.01e-8);
        CHECK(warm.iterations < full.iterations);
        CHECK(warm.history.front() == doctest::Approx(cold.true_residual));
        // x holds a solution, which must be ignored.
        const auto again = p.solve(which, {.rtol = 1e-8});
        CHECK(again.iterations == full.iterations);
    }
}

// With Neumann boundaries the constants are the null space.
KRYLITH_GROUP_TEST("edges: singular and consistent systems are solved, inconsistent ones never") {
    constexpr std::int64_t n = 41;
    auto matrix = laplace_1d(n);
    matrix.values.front() = 1; // row 0: 1 -1
    matrix.values.back() = 1;  // last row: -1 1
    auto b = random_values<double>(n, 103);
    double mean = 0;
    for (const double v : b) mean += v / n;
    for (double& v : b) v -= mean;
    auto wrong = b;
    for (double& v : wrong) v += 1;
    for (const auto which : all_methods) {
        CAPTURE(name_of(which));
        problem<double> consistent(group, matrix, b);
        const auto good = consistent.solve(which, {.restart = n});
        INFO(describe(good));
        CHECK(good.converged());
        CHECK(consistent.relative_residual() <= 1.01e-8);
        problem<double> inconsistent(group, matrix, wrong);
        const auto bad = inconsistent.solve(which, {.restart = n});
        INFO(describe(bad));
        CHECK_FALSE(bad.converged());
        CHECK_FALSE(bad.diagnosis.empty());
    }
    problem<double> hole(group, diagonal_matrix({1, 0, 2}), {1, 1, 1});
    problem<double> nothing(group, testing::from_triplets(5, {}), std::vector<double>(5, 1));
    for (const auto which : all_methods) {
        CAPTURE(name_of(which));
        CHECK_FALSE(hole.solve(which).converged());
        CHECK_FALSE(nothing.solve(which).converged());
    }
}

KRYLITH_GROUP_TEST("edges: swapped unknowns") {
    problem<double> p(group, from_dense({{0, 1}, {1, 0}}), {1, 2});
    CHECK(p.solve(method::gmres).converged());
    CHECK(p.solution()[0] == doctest::Approx(2));
    problem<double> eigen(group, from_dense({{0, 1}, {1, 0}}), {1, 1});
    for (const auto which : all_methods) CHECK(eigen.solve(which).converged());
    problem<double> shift(group, testing::shift_matrix(12, 1), random_values<double>(12, 104));
    // GMRES makes no progress until the last step.
    const auto slow = shift.solve(method::gmres, {.restart = 12});
    INFO(describe(slow));
    CHECK(slow.converged());
    CHECK(slow.iterations <= 12);
    const auto never = shift.solve(method::gmres, {.restart = 5});
    CHECK(never.converged() == (shift.relative_residual() <= 1.01e-8));
}

KRYLITH_GROUP_TEST("edges: restarts of one, of n and of more than n") {
    const auto matrix = convection_diffusion<double>(4, 5, random_scaling{1});
    const auto b = random_values<double>(matrix.rows, 105);
    problem<double> p(group, matrix, b);
    const auto whole = p.solve(method::gmres, {.restart = 64});
    CHECK(whole.converged());
    const auto more = p.solve(method::gmres, {.restart = 1'000'000});
    CHECK(more.converged());
    CHECK(more.iterations == whole.iterations);
    const auto one = p.solve(method::gmres, {.max_iterations = 3000, .restart = 1});
    INFO(describe(one));
    CHECK(one.converged());
    CHECK(one.iterations > whole.iterations);
    CHECK(p.relative_residual() <= 1.01e-8);
}

} // namespace krylith
