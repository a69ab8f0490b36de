// The diagnosis of failures, by the residual, the precision and the iteration at which they ended.
#include <limits>
#include <string>

#include <doctest/doctest.h>

#include <krylith/matrix/gallery.hpp>
#include <krylith/solvers/iteration/diagnosis.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith {

using testing::from_dense;
using testing::method;
using testing::problem;

namespace {

constexpr double fp64 = std::numeric_limits<double>::epsilon();
constexpr double fp32 = std::numeric_limits<float>::epsilon();

solve_result ended(reason why, std::int64_t iterations, double residual, double recurrence) {
    solve_result r;
    r.reason = why;
    r.iterations = iterations;
    r.rhs_norm = 1;
    r.true_residual = residual;
    r.recurrence_residual = recurrence;
    return r;
}

bool says(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("diagnosis: attainable accuracy is said of small residuals only") {
    const auto of = [](double residual, double recurrence, double unit) {
        return diagnosis(ended(reason::stagnated, 9, residual, recurrence), unit);
    };
    CHECK(says(of(2e-12, 2e-12, fp64), "the attainable accuracy"));
    CHECK(says(of(2e-12, 2e-12, fp64), "about 2.0e-12"));
    CHECK(says(of(1e-5, 1e-9, fp64), "the attainable accuracy")); // rounding has parted the two
    CHECK(says(of(1e-5, 1e-9, fp64), "singular"));
    CHECK_FALSE(says(of(2e-12, 2e-12, fp64), "singular"));
    CHECK(says(of(2e-5, 2e-5, fp32), "fp32 reaches a relative residual of about 2.0e-05"));
    CHECK(says(of(2e-5, 2e-5, fp32), "use fp64"));
    CHECK(says(of(10, 1e-9, fp64), "rounding outweighs b"));
    CHECK_FALSE(says(of(10, 1e-9, fp64), "accuracy"));
    for (const double unit : {fp32, fp64}) {
        CHECK(says(of(2e4, 2e4, unit), "no progress: the relative residual is 2.0e+04"));
        CHECK(says(of(2e4, 2e4, unit), "larger than that of x = 0"));
        CHECK(says(of(0.3, 0.3, unit), "the method is stuck"));
        for (const double large : {2e4, 0.3}) {
            CHECK_FALSE(says(of(large, large, unit), "accuracy"));
            CHECK_FALSE(says(of(large, large, unit), "ask for less"));
        }
    }
}

TEST_CASE("diagnosis: at the first direction A may be negative definite, later it can't be") {
    for (const reason why : {reason::indefinite_preconditioner, reason::indefinite_matrix}) {
        CHECK(says(diagnosis(ended(why, 0, 1, 1), fp64), "solve (-A) x = -b"));
        CHECK_FALSE(says(diagnosis(ended(why, 7, 1, 1), fp64), "(-A)"));
    }
}

TEST_CASE("diagnosis: each failure has one, which names no option of the command") {
    for (int k = 0; k <= static_cast<int>(reason::time_limit); ++k) {
        const auto why = static_cast<reason>(k);
        const solve_result r = ended(why, 5, 0.5, 0.5);
        CAPTURE(to_string(why));
        CHECK(diagnosis(r, fp64).empty() == r.converged());
        CHECK_FALSE(says(diagnosis(r, fp64), "--"));
    }
}

KRYLITH_GROUP_TEST("diagnosis: cg on a matrix that isn't symmetric makes no progress") {
    problem<double> p(group, convection_diffusion<double>(16, 100), std::vector<double>(4096, 1.0));
    const auto result = p.solve(method::cg, {.stagnation_window = 300});
    INFO(testing::describe(result));
    CHECK(result.reason == reason::stagnated);
    CHECK(result.relative_residual() > 1);
    CHECK(says(result.diagnosis, "larger than that of x = 0"));
}

KRYLITH_GROUP_TEST("diagnosis: fp32 is named where it ends, and has an rtol of its own") {
    problem<float> p(group, poisson2d<float>(20), std::vector<float>(400, 1.0F));
    for (const auto which : testing::all_methods) {
        const auto usual = p.solve(which);
        INFO(testing::describe(usual));
        CHECK(usual.rtol == default_rtol<float>());
        CHECK(usual.converged());
        const auto strict = p.solve(which, {.rtol = 1e-12});
        INFO(testing::describe(strict));
        CHECK(strict.rtol == 1e-12);
        CHECK(strict.reason == reason::stagnated);
        CHECK(says(strict.diagnosis, "fp32 reaches"));
    }
    problem<double> q(group, poisson2d<double>(20), std::vector<double>(400, 1.0));
    CHECK(q.solve(method::cg).rtol == default_rtol<double>());
}

} // namespace krylith
