#include <krylith/bench/common/repeated.hpp>

#include <fmt/format.h>

#include <krylith/bench/common/stopwatch.hpp>
#include <krylith/device/error.hpp>

namespace krylith::bench {

repeated::repeated(const device_group& group, execution_mode mode, int trip)
    : run_(group, {.mode = mode, .unroll = trip}), one_(run_), trip_(trip) {
    // What is tested after each step: never small enough, never too large.
    run_.set(one_.number(), 1.0);
    run_.set(control::target, 0.0);
    run_.set(control::ceiling, 2.0);
    run_.set(control::best, 2.0);
    run_.set(control::patience, 1e300);
    run_.set(control::pause_at, 1e300);
}

double repeated::seconds(std::int64_t steps, const std::function<void()>& body) {
    if (steps % trip_ != 0) {
        throw usage_error(fmt::format("{} steps can't be timed in turns of {}", steps, trip_));
    }
    run_.set(control::state, as_register(loop_state::running));
    run_.set(control::iteration, 0.0);
    run_.set(control::limit, static_cast<double>(steps));
    run_.unguarded([&] { run_.flush(); }); // the last call's loop has stopped
    run_.group().synchronize();
    const stopwatch watch;
    const loop_report end = run_.repeat([&] {
        body();
        test_residual(one_);
    });
    const double seconds = watch.seconds();
    if (end.state != loop_state::limit || end.iterations != steps) {
        throw measurement_failed("a loop of " + std::to_string(steps) + " steps ended after " +
                                 std::to_string(end.iterations));
    }
    return seconds;
}

} // namespace krylith::bench
