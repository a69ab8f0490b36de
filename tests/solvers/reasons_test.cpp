// Every reason for which a solve may end, reached by each method that can; after each failure the
// next solve works.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith {

using testing::all_methods;
using testing::describe;
using testing::diagonal_matrix;
using testing::from_dense;
using testing::laplace_1d;
using testing::method;
using testing::name_of;
using testing::problem;

namespace {

/// Checks that a solve ends for `expected`, says why, and that its figures agree.
void ends(problem<double>& p, method which, reason expected, const solver_options& options = {},
          bool precondition = false) {
    CAPTURE(name_of(which));
    const auto result = precondition ? p.solve_jacobi(which, options) : p.solve(which, options);
    INFO(describe(result));
    CHECK(name_of(result.reason) == name_of(expected));
    const bool good = expected == reason::converged_rtol || expected == reason::converged_atol ||
                      expected == reason::happy_breakdown;
    CHECK(result.converged() == good);
    CHECK(result.diagnosis.empty() == good);
    if (expected != reason::not_a_number)
        CHECK(result.relative_residual() ==
              doctest::Approx(p.relative_residual()).epsilon(1e-6).scale(1e-8));
    // The same vectors run the next solve.
    solver_options strict = options;
    strict.on_failure = failure_policy::throw_error;
    if (good) return;
    try {
        (void)(precondition ? p.solve_jacobi(which, strict) : p.solve(which, strict));
        FAIL("did not throw");
    } catch (const not_converged& e) {
        CHECK(e.result().reason == expected);
        CHECK(e.result().iterations == result.iterations);
        CHECK(std::string(e.what()).find(to_string(expected)) != std::string::npos);
    }
    const auto a = make_operator(p.a->layout()->comm, laplace_1d(10));
    auto b = testing::make_range_vector(a->layout(), std::vector<double>(10, 1.0));
    auto x = a->make_range_vector();
    CHECK(testing::solve(which, *a, b, x).converged());
}

} // namespace

KRYLITH_GROUP_TEST("reasons: converged_rtol, converged_atol") {
    // This system converges slowly: not within one iteration from 1e-5 to 1e-12.
    problem<double> p(group, poisson2d<double>(9, 8), testing::random_values<double>(72, 91));
    for (const auto which : all_methods) {
        ends(p, which, reason::converged_rtol);
        ends(p, which, reason::converged_atol, {.rtol = 0, .atol = 1e-5});
        ends(p, which, reason::converged_atol, {.rtol = 1e-12, .atol = 1e-5});
        ends(p, which, reason::converged_rtol, {.rtol = 1e-5, .atol = 1e-12});
        ends(p, which, reason::converged_atol, {.rtol = 0, .atol = 1e6}); // x0 = 0 is good enough
        CHECK(p.solve(which, {.rtol = 0, .atol = 1e6}).iterations == 0);
    }
}

// The space is complete before the restart, because A has few distinct eigenvalues.
KRYLITH_GROUP_TEST("reasons: happy_breakdown") {
    std::vector<double> d(30);
    for (std::size_t i = 0; i < d.size(); ++i) d[i] = 1 + static_cast<double>(i % 3);
    const auto b = testing::random_values<double>(30, 92);
    problem<double> three(group, diagonal_matrix(d), b);
    // Only the complete space reaches this target.
    ends(three, method::gmres, reason::happy_breakdown, {.rtol = 1e-15});
    CHECK(three.solve(method::gmres, {.rtol = 1e-15}).iterations <= 4);
    problem<double> one(group, diagonal_matrix(std::vector<double>(30, 1)), b);
    ends(one, method::gmres, reason::happy_breakdown);
    CHECK(one.solve(method::gmres).iterations == 1);
}

KRYLITH_GROUP_TEST("reasons: max_iterations") {
    problem<double> p(group, laplace_1d(200), testing::random_values<double>(200, 93));
    for (const auto which : all_methods)
        for (const int limit : {0, 1, 2, 17}) {
            const solver_options options{.max_iterations = limit, .restart = 10};
            ends(p, which, reason::max_iterations, options);
            const auto result = p.solve(which, options);
            CHECK(result.iterations == limit);
        }
}

KRYLITH_GROUP_TEST("reasons: diverged") {
    // The first CG step is right for the small eigenvalue and 1e3 times too long for the other.
    problem<double> p(group, diagonal_matrix({1, 1e6}), {1, 1e-3});
    ends(p, method::cg, reason::diverged, {.divergence_tolerance = 100});
    // The matrix is almost skew: r0'A r0 is tiny beside A r0, so alpha is 1e3.
    problem<double> q(group, from_dense({{1e-3, 1}, {-1, 1e-3}}), {1, 0});
    ends(q, method::bicgstab, reason::diverged, {.divergence_tolerance = 100});
    // A start that is 1e13 off is none, because the first ||r|| counts too: restarts from the true
    // residual overcome it.
    problem<double> far(group, laplace_1d(20), std::vector<double>(20, 1.0));
    const std::vector<double> x0(20, 1e13);
    for (const auto which : {method::cg, method::bicgstab}) {
        const auto result = far.solve_from(x0, which);
        INFO(describe(result));
        CHECK(result.converged());
        CHECK(result.replacements > 0);
        CHECK(far.relative_residual() <= 1.01e-8);
    }
}

namespace {

/// A preconditioner that sees little but the first entry.
struct one_sided {
    void apply(execution& run, const vector<double>& r, vector<double>& z,
               std::span<const reduction_into<double>> dots) const {
        fused(run, z = pointwise(weights, r), dots);
    }
    [[nodiscard]] bool recordable() const { return true; }
    [[nodiscard]] std::int64_t bytes() const { return 8 * weights.size(); }
    [[nodiscard]] std::string name() const { return "one-sided"; }
    vector<double> weights;
};

} // namespace

// GMRES reduces what it minimises; with M on the left that is not the true residual.
KRYLITH_GROUP_TEST("reasons: diverged, gmres with a bad preconditioner on the left") {
    const auto matrix = from_dense({{1, 0}, {1000, 1}});
    problem<double> p(group, matrix, {1, 0});
    one_sided m{testing::make_range_vector(p.a->layout(), std::vector<double>{1, 1e-6})};
    const solver_options options{
        .restart = 1, .preconditioning = side::left, .divergence_tolerance = 100};
    const auto result = gmres(*p.a, p.b, p.x, options, m);
    INFO(describe(result));
    CHECK(result.reason == reason::diverged);
    CHECK(result.true_residual == doctest::Approx(1000).epsilon(0.01));
}

KRYLITH_GROUP_TEST("reasons: breakdown") {
    // r0'A r0 = 0 at the start, and again after a restart there.
    problem<double> skew(group, from_dense({{0, 1}, {-1, 0}}), {1, 0});
    ends(skew, method::bicgstab, reason::breakdown);
    problem<double> swap(group, from_dense({{0, 1}, {1, 0}}), {1, 0});
    ends(swap, method::bicgstab, reason::breakdown);
}

KRYLITH_GROUP_TEST("reasons: indefinite_matrix") {
    problem<double> signs(group, diagonal_matrix({1, -1}), {1, 1});
    ends(signs, method::cg, reason::indefinite_matrix);
    problem<double> swap(group, from_dense({{0, 1}, {1, 0}}), {1, 0});
    ends(swap, method::cg, reason::indefinite_matrix);
    auto negative = laplace_1d(40);
    for (double& v : negative.values) v = -v;
    problem<double> p(group, negative, testing::random_values<double>(40, 94));
    ends(p, method::cg, reason::indefinite_matrix);
    for (const auto which : testing::general_methods) ends(p, which, reason::converged_rtol);
    auto indefinite = laplace_1d(40); // later than at the first step
    for (double& v : indefinite.values)
        if (v == 2) v = 1.0;
    problem<double> q(group, indefinite, testing::random_values<double>(40, 95));
    ends(q, method::cg, reason::indefinite_matrix);
    CHECK(q.solve(method::gmres, {.restart = 40}).converged());
}

KRYLITH_GROUP_TEST("reasons: indefinite_preconditioner") {
    auto negative = laplace_1d(40);
    for (double& v : negative.values) v = -v;
    problem<double> p(group, negative, testing::random_values<double>(40, 96));
    ends(p, method::cg, reason::indefinite_preconditioner, {}, true);
    for (const auto which : testing::general_methods)
        ends(p, which, reason::converged_rtol, {}, true);
}

KRYLITH_GROUP_TEST("reasons: not_a_number") {
    for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity(),
                             -std::numeric_limits<double>::infinity()})
        for (const std::size_t place : {std::size_t{0}, std::size_t{29}})
            for (const auto which : all_methods) {
                CAPTURE(bad);
                auto b = testing::random_values<double>(30, 97);
                problem<double> good(group, laplace_1d(30), b);
                std::vector<double> x0(30);
                x0[place] = bad;
                const auto from_bad = good.solve_from(x0, which);
                INFO(describe(from_bad));
                CHECK(from_bad.reason == reason::not_a_number);
                CHECK(good.solve(which).converged()); // although x holds NaN

                auto matrix = laplace_1d(30);
                matrix.values[place] = bad;
                problem<double> bad_matrix(group, matrix, b);
                ends(bad_matrix, which, reason::not_a_number);
                b[place] = bad;
                problem<double> bad_b(group, laplace_1d(30), b);
                ends(bad_b, which, reason::not_a_number);
            }
}

// Only an exact result fulfils rtol = atol = 0; the solve ends and reports its residual.
KRYLITH_GROUP_TEST("reasons: stagnated") {
    problem<double> p(group, testing::random_matrix(60, 4, 6, 98),
                      testing::random_values<double>(60, 98));
    problem<double> spd(group, laplace_1d(60), testing::random_values<double>(60, 99));
    for (const auto which : all_methods) {
        auto& q = testing::needs_symmetric(which) ? spd : p;
        ends(q, which, reason::stagnated, {.rtol = 0, .atol = 0, .max_iterations = 5000});
        CHECK(q.relative_residual() < 1e-12);
    }
    // The window allows this many iterations without a gain of 1%. From one end of a chain CG gains
    // 1 / k in iteration k, until it reaches the other end.
    std::vector<double> end(200);
    end.front() = 1;
    problem<double> chain(group, laplace_1d(200), end);
    ends(chain, method::cg, reason::stagnated, {.stagnation_window = 1});
    CHECK(chain.solve(method::cg, {.stagnation_window = 1}).iterations < 120);
    CHECK(chain.solve(method::cg).converged());
    const solver_options strict = {.stagnation_window = 50, .stagnation_gain = 0.03};
    ends(chain, method::cg, reason::stagnated, strict); // iterations 2 to 51 were not below 0.03
    CHECK(chain.solve(method::cg, strict).iterations == 51);
    // GMRES(1) makes no progress on a rotation.
    problem<double> rotation(group, from_dense({{0, 1}, {-1, 0}}), {1, 0});
    ends(rotation, method::gmres, reason::stagnated, {.restart = 1});
}

namespace {

/// The decision at the loop's end, without a solve.
struct loop_end : iteration_control {
    loop_end()
        : iteration_control(device_group::host(1), resolved<double>({}), 10, "", {}, false, 1) {}
    using iteration_control::check_convergence;
    using iteration_control::result_;
};

} // namespace

// An infinite residual is never less than a quarter of itself, so going on would never end.
TEST_CASE("reasons: a residual that overflows ends the solve, however the recurrence ended") {
    const double infinite = std::numeric_limits<double>::infinity();
    for (const double rr : {infinite, std::nan("")})
        for (const auto state :
             {loop_state::converged, loop_state::running, loop_state::breakdown}) {
            loop_end solve;
            CHECK(solve.check_convergence({state, 3, 1.0}, rr));
            CHECK(name_of(solve.result_.reason) == name_of(reason::not_a_number));
        }
}

} // namespace krylith
