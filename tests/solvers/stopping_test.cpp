// Solves that are stopped: by the callback, by a token, by the clock. x is the iterate reached.
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/loop.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith {

using testing::all_methods;
using testing::describe;
using testing::method;
using testing::modes_of;
using testing::name_of;
using testing::problem;
using testing::random_values;
using testing::same_bits;

namespace {

/// A system that no method solves within the iterations of these tests.
problem<double> endless(const device_group& group) {
    const auto matrix = testing::laplace_1d(20'000);
    return {group, matrix, random_values<double>(matrix.rows, 121)};
}

/// Options for it: nothing but a stop ends the solve soon.
solver_options patient(execution_mode mode) {
    return {.rtol = 0,
            .max_iterations = 200'000,
            .restart = 8, // pauses are at the ends of cycles, of which this is a multiple
            .shadow_vectors = 3,
            .divergence_tolerance = 1e100,
            .stagnation_window = 200'000,
            .mode = mode};
}

/// Checks that a stopped solve left the iterate that it says, in x and in its residual, and that
/// the next solve is as if nothing had happened.
void is_the_iterate(problem<double>& p, method which, const solve_result& stopped,
                    execution_mode mode) {
    INFO(describe(stopped));
    const auto x = p.solution();
    CHECK(stopped.true_residual == doctest::Approx(p.relative_residual() * stopped.rhs_norm));
    CHECK_FALSE(stopped.diagnosis.empty());
    if (which != method::cg) return; // others may have been restarted on the way
    solver_options same = patient(mode);
    same.max_iterations = stopped.iterations;
    const auto whole = p.solve(which, same);
    CHECK(whole.iterations == stopped.iterations);
    CHECK(whole.true_residual == stopped.true_residual);
    CHECK(same_bits(p.solution(), x));
}

void for_all(const device_group& group,
             const std::function<void(problem<double>&, method, execution_mode)>& test) {
    auto p = endless(group);
    for (const auto mode : modes_of(group))
        for (const auto which : all_methods) {
            CAPTURE(name_of(which));
            test(p, which, mode);
        }
}

} // namespace

KRYLITH_GROUP_TEST("stopping: a callback that says stop before the first iteration") {
    for_all(group, [](problem<double>& p, method which, execution_mode mode) {
        solver_options options = patient(mode);
        int calls = 0;
        options.callback = [&](const progress& now) {
            ++calls;
            CHECK(now.iteration == 0);
            return next_step::stop;
        };
        const auto result = p.solve(which, options);
        CHECK(calls == 1);
        CHECK(result.reason == reason::stopped_by_user);
        CHECK(result.iterations == 0);
        CHECK(result.true_residual == doctest::Approx(result.rhs_norm));
        CHECK(same_bits(p.solution(), std::vector<double>(p.solution().size(), 0.0)));
    });
}

KRYLITH_GROUP_TEST("stopping: a callback ends the solve at a trip after the one it was told of") {
    for_all(group, [](problem<double>& p, method which, execution_mode mode) {
        for (const std::int64_t at : {1, 50}) {
            CAPTURE(at);
            solver_options options = patient(mode);
            std::vector<std::int64_t> told;
            options.callback_interval = at;
            options.callback = [&](const progress& now) {
                told.push_back(now.iteration);
                return now.iteration >= at ? next_step::stop : next_step::go;
            };
            const auto result = p.solve(which, options);
            INFO(describe(result));
            CHECK(result.reason == reason::stopped_by_user);
            CHECK(result.iterations >= at);
            REQUIRE(told.size() >= 2);
            CHECK(told[0] == 0);
            CHECK(told[1] == at);
            CHECK(told.back() == result.iterations); // and nothing in between
            CHECK(told.size() <= 3);
            is_the_iterate(p, which, result, mode);
        }
    });
}

KRYLITH_GROUP_TEST("stopping: where the callback pauses the loop, it stops at once and sees x") {
    for_all(group, [](problem<double>& p, method which, execution_mode mode) {
        solver_options options = patient(mode);
        options.callback_interval = 24;
        options.callback_pauses = true;
        std::vector<double> seen;
        options.callback = [&](const progress& now) {
            seen = p.solution();
            return now.iteration == 48 ? next_step::stop : next_step::go;
        };
        const auto result = p.solve(which, options);
        CHECK(result.reason == reason::stopped_by_user);
        CHECK(result.iterations == 48);
        CHECK(same_bits(seen, p.solution()));
        is_the_iterate(p, which, result, mode);
    });
}

KRYLITH_GROUP_TEST("stopping: a stop that comes with the last iteration changes nothing") {
    const auto matrix = poisson2d<double>(9, 8);
    problem<double> p(group, matrix, random_values<double>(matrix.rows, 4));
    for (const auto mode : modes_of(group))
        for (const auto which : all_methods) {
            CAPTURE(name_of(which));
            const auto quiet = p.solve(which, {.mode = mode});
            const auto x = p.solution();
            int last = 0;
            const auto result = p.solve(which, {.callback =
                                                    [&](const progress& now) {
                                                        if (now.iteration < quiet.iterations)
                                                            return next_step::go;
                                                        ++last;
                                                        return next_step::stop;
                                                    },
                                                .callback_interval = 1,
                                                .mode = mode});
            CHECK(last == 1);
            CHECK(result.reason == quiet.reason);
            CHECK(result.iterations == quiet.iterations);
            CHECK(same_bits(p.solution(), x));
        }
}

KRYLITH_GROUP_TEST("stopping: a token that was requested before ends the solve at once") {
    for_all(group, [](problem<double>& p, method which, execution_mode mode) {
        std::stop_source source;
        source.request_stop();
        solver_options options = patient(mode);
        options.stop = source.get_token();
        const auto result = p.solve(which, options);
        CHECK(result.reason == reason::interrupted);
        CHECK(result.iterations == 0);
    });
}

KRYLITH_GROUP_TEST("stopping: a token that another thread requests") {
    for_all(group, [](problem<double>& p, method which, execution_mode mode) {
        std::stop_source source;
        std::atomic<bool> begun = false;
        solver_options options = patient(mode);
        options.stop = source.get_token();
        options.callback_interval = 20;
        options.callback = [&](const progress& now) { begun = begun || now.iteration > 0; };
        std::jthread stopper([&] {
            while (!begun) std::this_thread::sleep_for(std::chrono::milliseconds(1));
            source.request_stop();
        });
        const auto result = p.solve(which, options);
        begun = true;
        INFO(describe(result));
        CHECK(result.reason == reason::interrupted);
        CHECK(result.iterations > 0);
        is_the_iterate(p, which, result, mode);
    });
}

KRYLITH_GROUP_TEST("stopping: max_seconds") {
    for_all(group, [](problem<double>& p, method which, execution_mode mode) {
        solver_options options = patient(mode);
        for (const double seconds : {0.0, 1e-9}) {
            options.max_seconds = seconds;
            const auto result = p.solve(which, options);
            CHECK(result.reason == reason::time_limit);
            CHECK(result.iterations == 0);
        }
        options.max_seconds = 0.05;
        const auto before = std::chrono::steady_clock::now();
        const auto result = p.solve(which, options);
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - before;
        INFO(describe(result));
        CHECK(result.reason == reason::time_limit);
        CHECK(took.count() >= 0.05);
        CHECK(took.count() < 20);
        is_the_iterate(p, which, result, mode);

        options.max_seconds = 1e6; // not reached
        options.max_iterations = 20;
        CHECK(p.solve(which, options).reason == reason::max_iterations);
    });
}

KRYLITH_GROUP_TEST("stopping: a stopped solve can be gone on with, and the next is as the first") {
    const auto matrix = poisson2d<double>(17, 13);
    problem<double> p(group, matrix, random_values<double>(matrix.rows, 4));
    for (const auto mode : modes_of(group))
        for (const auto which : all_methods) {
            CAPTURE(name_of(which));
            const auto first = p.solve(which, {.mode = mode});
            const auto x = p.solution();
            const auto stopped =
                p.solve(which, {.callback =
                                    [](const progress& now) {
                                        return now.iteration < 8 ? next_step::go : next_step::stop;
                                    },
                                .callback_interval = 8,
                                .callback_pauses = true,
                                .mode = mode});
            CHECK(stopped.iterations < first.iterations);
            const auto rest = p.solve(which, {.initial_guess = true, .mode = mode});
            CHECK(rest.converged());
            CHECK(p.relative_residual() <= 1.01e-8);
            const auto again = p.solve(which, {.mode = mode});
            CHECK(again.iterations == first.iterations);
            CHECK(same_bits(p.solution(), x));
        }
}

TEST_CASE("stopping: a stop is a failure of the solve, which may be thrown") {
    auto p = endless(device_group::host(2));
    solver_options options = patient(execution_mode::automatic);
    options.max_seconds = 0;
    options.on_failure = failure_policy::throw_error;
    CHECK_THROWS_WITH_AS((void)p.solve(method::cg, options),
                         doctest::Contains("time_limit after 0 iterations"), not_converged);
}

TEST_CASE("stopping: a stop does not hide that x has converged, or what is wrong with b") {
    const auto matrix = poisson2d<double>(5, 5);
    problem<double> p(device_group::host(2), matrix, std::vector<double>(25, 0.0));
    const solver_options options{.max_seconds = 0};
    CHECK(p.solve(method::cg, options).converged()); // b = 0
    problem<double> bad(device_group::host(2), matrix, std::vector<double>(25, NAN));
    CHECK(bad.solve(method::cg, options).reason == reason::not_a_number);
}

TEST_CASE("callbacks are functions of a progress that return next_step or nothing") {
    static int calls = 0;
    const progress now{1, 2, 3, 4};
    const auto count = [](const progress&) { ++calls; };
    void (*plain)(const progress&) = count;
    next_step (*stopping)(const progress&) = [](const progress&) { return next_step::stop; };
    CHECK(solve_callback(count)(now) == next_step::go);
    CHECK(solve_callback(plain)(now) == next_step::go);
    CHECK(solve_callback(std::function<void(const progress&)>(count))(now) == next_step::go);
    CHECK(calls == 3);
    CHECK(solve_callback(stopping)(now) == next_step::stop);
    CHECK_FALSE(solve_callback());
    CHECK_FALSE(solve_callback(std::function<next_step(const progress&)>()));
    void (*none)(const progress&) = nullptr;
    CHECK_FALSE(solve_callback(none));
}

} // namespace krylith
