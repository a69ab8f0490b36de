// Right-hand sides whose squares vanish or overflow, and scaling by powers of two, which must
// change exponents only.
#include <cmath>
#include <vector>

#include <krylith/matrix/gallery.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/matrices.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith {

using testing::all_methods;
using testing::describe;
using testing::name_of;
using testing::problem;
using testing::random_values;
using testing::same_bits;
using testing::times;

KRYLITH_GROUP_TEST("scaling: b from 1e-300 to 1e300 is solved to 1e-8") {
    const auto matrix = poisson2d<double>(12);
    const auto b = random_values<double>(matrix.rows, 111);
    for (const double size : {1e-300, 1e-170, 1e-150, 1e150, 1e170, 1e300})
        for (const auto which : all_methods)
            for (const bool precondition : {false, true}) {
                CAPTURE(size);
                CAPTURE(name_of(which));
                problem<double> p(group, matrix, times(b, size));
                const auto result = precondition ? p.solve_jacobi(which, {.history = true})
                                                 : p.solve(which, {.history = true});
                INFO(describe(result));
                CHECK(result.converged());
                CHECK(p.relative_residual() <= 1.01e-8);
                CHECK(result.rhs_norm == doctest::Approx(testing::norm(times(b, size))));
                CHECK(result.history.front() == doctest::Approx(result.rhs_norm));
                CHECK(result.true_residual <= 1e-8 * result.rhs_norm);
                // A warm start is scaled as well.
                const auto again =
                    p.solve_from(times(p.solution(), 1 + 1e-3), which, {.rtol = 1e-6});
                CHECK(again.converged());
                CHECK(again.iterations < result.iterations);
            }
}

// One entry is huge and the others are not: the largest decides the scaling.
KRYLITH_GROUP_TEST("scaling: entries of very different sizes") {
    const auto matrix = testing::laplace_1d(20);
    for (const double size : {1e-300, 1e300})
        for (const auto which : all_methods) {
            std::vector<double> b(20, 1.0);
            b[7] = size;
            problem<double> p(group, matrix, b);
            const auto result = p.solve(which);
            INFO(describe(result));
            CHECK(result.converged());
            CHECK(p.relative_residual() <= 1.01e-8);
        }
    problem<double> subnormal(group, matrix, std::vector<double>(20, 5e-322));
    // x is a multiple of about 5e-324: no NaN, and no false claim.
    for (const auto which : all_methods) {
        const auto result = subnormal.solve(which);
        INFO(describe(result));
        CHECK(result.reason != reason::not_a_number);
        CHECK((!result.converged() || subnormal.relative_residual() < 0.5));
    }
}

KRYLITH_GROUP_TEST("scaling: fp32 at the ends of its range") {
    const auto matrix = testing::converted<float>(testing::laplace_1d(10));
    for (const double size : {1e-37, 1e-30, 1e-20, 1e20, 1e30, 1e36})
        for (const auto which : all_methods) {
            CAPTURE(size);
            CAPTURE(name_of(which));
            auto b = random_values<float>(10, 112);
            for (float& v : b) v *= static_cast<float>(size);
            problem<float> p(group, matrix, b);
            const auto result = p.solve(which, {.rtol = 1e-4});
            INFO(describe(result));
            CHECK(result.converged());
            CHECK(p.relative_residual() <= 1.1e-4);
        }
}

// Below fp32's normal numbers (1.2e-38) entries lose digits, which is no reason for a NaN.
KRYLITH_GROUP_TEST("scaling: fp32 below its normal numbers") {
    const auto matrix = testing::converted<float>(testing::laplace_1d(4));
    for (const auto which : all_methods) {
        problem<float> p(group, matrix, std::vector<float>(4, 1e-41F));
        const auto result = p.solve(which, {.rtol = 0.1});
        INFO(describe(result));
        CHECK(result.reason != reason::not_a_number);
    }
}

KRYLITH_GROUP_TEST("scaling: a power of two changes exponents and nothing else") {
    const auto matrix = poisson2d<double>(9, 11, random_scaling{2});
    const auto b = random_values<double>(matrix.rows, 113);
    for (const auto which : all_methods) {
        problem<double> p(group, matrix, b);
        const auto expected = p.solve(which, {.history = true});
        const auto solution = p.solution();
        for (const int power : {-900, -40, 3, 40, 900}) {
            CAPTURE(name_of(which));
            CAPTURE(power);
            const double factor = std::ldexp(1.0, power);
            problem<double> q(group, matrix, times(b, factor));
            const auto result = q.solve(which, {.history = true});
            CHECK(result.iterations == expected.iterations);
            CHECK(same_bits(result.history, times(expected.history, factor)));
            CHECK(same_bits(q.solution(), times(solution, factor)));
            CHECK(result.true_residual == expected.true_residual * factor);
        }
    }
}

// A is multiplied by a power of two as well, so x is scaled by its inverse.
KRYLITH_GROUP_TEST("scaling: A by a power of two") {
    auto matrix = poisson2d<double>(9, 11, random_scaling{2});
    const auto b = random_values<double>(matrix.rows, 114);
    for (const auto which : all_methods) {
        problem<double> p(group, matrix, b);
        const auto expected = p.solve(which, {.history = true});
        for (const int power : {-300, 300}) {
            CAPTURE(name_of(which));
            CAPTURE(power);
            auto scaled = matrix;
            for (double& v : scaled.values) v = std::ldexp(v, power);
            problem<double> q(group, scaled, b);
            const auto result = q.solve(which, {.history = true});
            INFO(describe(result));
            CHECK(same_bits(result.history, expected.history));
            CHECK(same_bits(q.solution(), times(p.solution(), std::ldexp(1.0, -power))));
        }
    }
}

} // namespace krylith
