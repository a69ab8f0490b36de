// execution::repeat: recorded and eager loops do the same, stop for the right reason, pause and go
// on, and keep their history.
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/vector/fused.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/loop.hpp>
#include <krylith/tests/support/vectors.hpp>

namespace krylith {

using testing::iterate;
using testing::make_layout;
using testing::modes_of;
using testing::same_bits;
using testing::set_controls;
using testing::values_of;

namespace {

/// A contraction that needs reductions: r -= (r'r / (r'r + 1)) / 2 r.
struct shrinking {
    explicit shrinking(const device_group& group, execution_mode mode, int unroll = 4)
        : run(group, {.mode = mode, .unroll = unroll, .history_size = 100}),
          r(make_layout(group, 3000, coherence::owned)),
          rr(run),
          factor(run),
          half(run) {
        std::vector<double> start(3000);
        for (std::size_t i = 0; i < start.size(); ++i)
            start[i] = 0.01 * static_cast<double>(i % 17);
        r.upload(start);
        half = 0.5;
        fused(run, rr = dot(r, r));
    }
    loop_report go() {
        return run.repeat([&] {
            factor = half * rr / (rr + half);
            fused(run, r -= factor * r, rr = dot(r, r));
            test_residual(rr);
        });
    }
    execution run;
    vector<double> r;
    scalar rr, factor, half;
};

} // namespace

KRYLITH_GROUP_TEST("loops: recorded and eager give the same bits, whatever the unrolling") {
    std::vector<double> expected;
    for (const auto mode : modes_of(group))
        for (const int unroll : {1, 5, 16}) {
            CAPTURE(unroll);
            shrinking s(group, mode, unroll);
            set_controls(s.run, 0, 23);
            const auto end = s.go();
            CHECK(end.state == loop_state::limit);
            CHECK(end.iterations == 23);
            auto state = values_of(s.r);
            state.push_back(end.residual);
            for (const double h : s.run.history(24)) state.push_back(h);
            if (expected.empty()) expected = state;
            CHECK(same_bits(state, expected));
        }
}

KRYLITH_GROUP_TEST("loops: pauses change nothing") {
    for (const auto mode : modes_of(group)) {
        shrinking whole(group, mode);
        set_controls(whole.run, 0, 20);
        const auto end = whole.go();

        shrinking parts(group, mode);
        set_controls(parts.run, 0, 20);
        std::vector<std::int64_t> pauses;
        for (std::int64_t next = 3;; next += 3) {
            parts.run.set(control::pause_at, static_cast<double>(next));
            parts.run.set(control::state, as_register(loop_state::running));
            const auto now = parts.go();
            if (now.state != loop_state::pause) {
                CHECK(now.state == loop_state::limit);
                CHECK(now.iterations == end.iterations);
                CHECK(now.residual == end.residual);
                break;
            }
            pauses.push_back(now.iterations);
            REQUIRE(pauses.size() < 10);
        }
        CHECK(pauses == std::vector<std::int64_t>{3, 6, 9, 12, 15, 18});
        CHECK(same_bits(values_of(parts.r), values_of(whole.r)));
        CHECK(same_bits(parts.run.history(21), whole.run.history(21)));
    }
}

KRYLITH_GROUP_TEST("loops: history has one entry an iteration, and one set by the host") {
    for (const auto mode : modes_of(group)) {
        execution run(group, {.mode = mode, .unroll = 3, .history_size = 8});
        scalar value(run), three(run);
        value = 1.0;
        three = 3.0;
        set_controls(run, 0, 7);
        run.set_history(0, 1.0);
        (void)run.repeat([&] {
            value = value * three;
            test_residual(value);
        });
        CHECK(run.history(8) == std::vector<double>{1, 3, 9, 27, 81, 243, 729,
                                                    2187}); // and no more, as memcheck finds
    }
}

KRYLITH_GROUP_TEST("loops: each reason to stop") {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    // value_k = start * ratio^k; the iteration at which the loop stops, and why.
    struct row {
        double start, ratio;
        std::uint8_t reg;
        double setting;
        loop_state why;
        std::int64_t iterations;
    };
    const std::vector<row> rows = {
        {1, 0.5, control::target, 0.13, loop_state::converged, 3},
        {1, 0.5, control::target, 0.125, loop_state::converged, 3}, // equal is enough
        {1, 2, control::ceiling, 8, loop_state::diverged, 4},
        {1, 1, control::patience, patience_with(5, 0.98), loop_state::stagnated, 6},
        {1, 1, control::patience, patience_with(5, 1), loop_state::stagnated, 6},
        // Slow, but within 4 a gain of 2%.
        {1, 0.99, control::patience, patience_with(4, 0.98), loop_state::limit, 9},
        {1, 0.999, control::patience, patience_with(4, 0.98), loop_state::stagnated, 5},
        {1, 0.5, control::patience, patience_with(4, 0.05), loop_state::stagnated, 5},
        {1, 0.5, control::patience, patience_with(4, 0.07), loop_state::limit, 9},
        {1, infinity, control::patience, patience_with(4, 0.98), loop_state::not_a_number, 1},
        {std::nan(""), 1, control::patience, patience_with(4, 0.98), loop_state::not_a_number, 1},
        {1, 0.5, control::pause_at, 2, loop_state::pause, 2},
        {1, 0.5, control::limit, 4, loop_state::limit, 4},
    };
    for (const auto mode : modes_of(group))
        for (const row& r : rows) {
            CAPTURE(static_cast<int>(r.why));
            CAPTURE(r.ratio);
            execution run(group, {.mode = mode, .unroll = 2});
            scalar value(run), ratio(run), after(run);
            value = r.start;
            ratio = r.ratio;
            after = 0.0;
            set_controls(run, 0, 9);
            run.set(r.reg, r.setting);
            const auto end = run.repeat([&] {
                value = value * ratio;
                test_residual(value);
                run.flush();
                after = value; // guarded: skipped after the stop
                run.flush();
            });
            CHECK(end.state == r.why);
            CHECK(end.iterations == r.iterations);
            double before = r.iterations == 1 ? 0.0 : r.start;
            for (std::int64_t k = 1; k < r.iterations; ++k) before *= r.ratio;
            if (r.why == loop_state::pause)
                before *= r.ratio; // the loop pauses only between iterations
            CHECK(run.get(after.number()) == before);
        }
}

KRYLITH_GROUP_TEST("loops: requirements stop with their reason, NaN with its own") {
    struct row {
        double value, scale;
        loop_state positive, nonzero;
    };
    const double nan = std::nan("");
    const double infinity = std::numeric_limits<double>::infinity();
    const std::vector<row> rows = {
        {1, 1, loop_state::limit, loop_state::limit},
        {-1, 1, loop_state::indefinite_matrix, loop_state::limit},
        {0, 1, loop_state::indefinite_matrix, loop_state::breakdown},
        {0, 0, loop_state::indefinite_matrix, loop_state::breakdown},
        {1e-17, 1, loop_state::limit, loop_state::breakdown},
        {1e-15, -1, loop_state::limit, loop_state::limit},
        {nan, 1, loop_state::not_a_number, loop_state::not_a_number},
        {infinity, 1, loop_state::not_a_number, loop_state::not_a_number},
        {-infinity, 1, loop_state::not_a_number, loop_state::not_a_number},
    };
    for (const auto mode : modes_of(group))
        for (const row& r : rows)
            for (const bool positive : {true, false}) {
                CAPTURE(r.value);
                CAPTURE(positive);
                execution run(group, {.mode = mode, .unroll = 2});
                scalar value(run), scale(run);
                value = r.value;
                scale = r.scale;
                const auto end = iterate(run, 3, [&] {
                    if (positive)
                        require_positive(value, loop_state::indefinite_matrix);
                    else
                        require_nonzero(value, scale, loop_state::breakdown);
                });
                CHECK(end.state == (positive ? r.positive : r.nonzero));
            }
}

// A body that throws while it is recorded leaves an execution that can be used.
KRYLITH_GROUP_TEST("loops: an exception from the body passes, and the next loop runs") {
    for (const auto mode : modes_of(group)) {
        execution run(group, {.mode = mode});
        scalar value(run), one(run);
        value = 0.0;
        one = 1.0;
        const auto fails = [&] {
            (void)iterate(run, 3, [&]() -> void { throw std::runtime_error("no"); });
        };
        CHECK_THROWS_WITH_AS(fails(), "no", std::runtime_error);
        group.synchronize();
        const auto end = iterate(run, 3, [&] {
            run.flush(); // the test of the iteration before
            value = value + one;
            run.flush();
        });
        CHECK(end.iterations == 3);
        CHECK(run.get(value.number()) == 3.0);
    }
}

} // namespace krylith
