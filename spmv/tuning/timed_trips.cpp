#include <krylith/spmv/tuning/timed_trips.hpp>

#include <algorithm>
#include <chrono>
#include <limits>
#include <string>

#include <krylith/device/error.hpp>
#include <krylith/vector/scalar.hpp>

namespace krylith {

void repeat_trips(execution& run, const std::function<void()>& body, std::int64_t trips) {
    // Only the limit may stop the loop.
    constexpr double never = std::numeric_limits<double>::infinity();
    run.set(control::state, as_register(loop_state::running));
    run.set(control::iteration, 0);
    run.set(control::target, -1);
    run.set(control::limit, static_cast<double>(trips));
    run.set(control::pause_at, never);
    run.set(control::ceiling, never);
    run.set(control::best, never);
    run.set(control::best_at, 0);
    run.set(control::patience, never);
    if (const loop_report end = run.repeat(body); end.state != loop_state::limit)
        throw device_error("a timing loop ended after " + std::to_string(end.iterations) + " of " +
                           std::to_string(trips) + " trips");
}

std::int64_t whole_recordings(std::int64_t trips) {
    constexpr std::int64_t at_once = execution_options{}.unroll;
    return (trips + at_once - 1) / at_once * at_once;
}

double seconds_a_trip(execution& run, const std::function<void()>& body, double seconds) {
    const auto time = [&](std::int64_t trips) {
        const auto start = std::chrono::steady_clock::now();
        repeat_trips(run, body, trips);
        const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
        return passed.count() / static_cast<double>(trips);
    };
    const std::int64_t few = whole_recordings(10);
    (void)time(few);
    const double about = std::max(time(few), 1e-9);
    const double fit = std::min(seconds / about, 2000.0);
    const std::int64_t trips = whole_recordings(static_cast<std::int64_t>(fit));
    return trips <= few ? about : time(trips);
}

} // namespace krylith
