// What an execution keeps from loop to loop: recordings, registers that follow the host's numbers,
// and posts.
#include <cmath>
#include <memory>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/vector/fused.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/loop.hpp>
#include <krylith/tests/support/vectors.hpp>

namespace krylith {

using testing::make_layout;
using testing::modes_of;
using testing::set_controls;
using testing::values_of;

KRYLITH_GROUP_TEST("kept execution: a recorded loop follows a number of the host") {
    for (const auto mode : modes_of(group)) {
        execution run(group, {.mode = mode, .unroll = 2});
        vector<double> v(make_layout(group, 50, coherence::owned));
        scalar one(run);
        run.set(one.number(), 1);
        const auto step = std::make_shared<double>(1);
        vector<double> ones(v.layout());
        ones.upload(std::vector<double>(50, 1.0));
        double expected = 0;
        for (const double now : {1.0, 2.0, 0.5, 0.5}) {
            *step = now;
            set_controls(run, 0, 4);
            const auto end = run.repeat([&] {
                fused(run, v += scalar_value{&run, run.follow(step)} * ones);
                test_residual(one);
            });
            CHECK(end.iterations == 4);
            expected += 4 * now;
            CHECK(values_of(v) == std::vector<double>(50, expected));
        }
    }
}

KRYLITH_GROUP_TEST(
    "kept execution: after forgetting, another loop is recorded and registers are free") {
    execution run(group, {.unroll = 3});
    vector<double> v(make_layout(group, 40, coherence::owned));
    vector<double> ones(v.layout());
    ones.upload(std::vector<double>(40, 1.0));
    scalar one(run);
    run.set(one.number(), 1);
    run.keep_registers();
    double expected = 0;
    for (int round = 1; round < 60; ++round) {
        const auto before = run.identity();
        run.forget_recording();
        CHECK(run.identity() != before);
        CHECK_FALSE(run.has_recording());
        const scalar factor(run); // more in all than there are
        run.set(factor.number(), round);
        set_controls(run, 0, 3);
        CHECK(run.repeat([&] {
                     fused(run, v += factor * ones);
                     test_residual(one);
                 })
                  .iterations == 3);
        CHECK(run.has_recording() == (run.mode() == execution_mode::recorded));
        expected += 3 * round;
    }
    CHECK(values_of(v) == std::vector<double>(40, expected));
}

KRYLITH_GROUP_TEST("kept execution: posts have the values of their time") {
    execution run(group, {});
    scalar a(run), b(run);
    for (int k = 0; k < 20; ++k) {
        run.set(a.number(), k);
        run.set(b.number(), -k);
        run.post({a.number(), b.number()});
        run.set(a.number(), 1e9);
        CHECK(run.read() == std::vector<double>{double(k), double(-k)});
        CHECK(run.get(a.number()) == 1e9);
    }
    CHECK_THROWS_WITH_AS(run.post({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}),
                         "post: 11 registers, at most 10 can be posted at once", usage_error);
}

KRYLITH_GROUP_TEST(
    "kept execution: the stop before the first iteration, and squares out of range") {
    execution run(group, {});
    scalar a(run), greatest(run);
    const auto state_after = [&](double value, double target, bool start) {
        run.set(control::state, 0);
        run.set(control::target, target);
        run.set(a.number(), value);
        run.unguarded([&] { run.flush(); });
        if (start)
            test_start(a);
        else
            require_ordinary<float>(a, loop_state::extreme);
        run.flush();
        return static_cast<loop_state>(static_cast<int>(run.get(control::state)));
    };
    CHECK(state_after(1, 2, true) == loop_state::converged);
    CHECK(state_after(2, 2, true) == loop_state::converged);
    CHECK(state_after(3, 2, true) == loop_state::running);
    CHECK(state_after(1, 0, false) == loop_state::running);
    for (const double out : {0.0, 1e31, 1e-31, std::nan("")})
        CHECK(state_after(out, 0, false) == loop_state::extreme);
    run.set(control::state, 0);
    run.set(a.number(), 3);
    run.unguarded([&] { run.flush(); });
    greatest = maximum(a, scalar_value{&run, run.constant(2)});
    CHECK(run.get(greatest.number()) == 3);
    greatest = maximum(a, scalar_value{&run, run.constant(4)});
    CHECK(run.get(greatest.number()) == 4);
}

} // namespace krylith
