#include <krylith/spmv/tuning/timed_trips.hpp>

#include <algorithm>
#include <chrono>
#include <limits>
#include <string>

#include <krylith/device/error.hpp>

namespace krylith {

namespace {

double seconds_of(const std::function<void()>& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Sets the control registers so that only the limit stops the loop.
void set_limit(execution& run, std::int64_t trips) {
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
}

void repeat_to_limit(execution& run, const std::function<void()>& body, std::int64_t trips) {
    const loop_report end = run.repeat(body);
    if (end.state != loop_state::limit || end.iterations != trips)
        throw device_error("a timing loop ended after " + std::to_string(end.iterations) + " of " +
                           std::to_string(trips) + " trips");
}

} // namespace

void repeat_trips(execution& run, const std::function<void()>& body, std::int64_t trips) {
    set_limit(run, trips);
    repeat_to_limit(run, body, trips);
}

std::int64_t whole_recordings(std::int64_t trips) {
    constexpr std::int64_t at_once = execution_options{}.unroll;
    return (trips + at_once - 1) / at_once * at_once;
}

double seconds_a_trip(execution& run, const std::function<void()>& body, double seconds) {
    const auto time = [&](std::int64_t trips) {
        return seconds_of([&] { repeat_trips(run, body, trips); }) / static_cast<double>(trips);
    };
    const std::int64_t few = whole_recordings(10);
    (void)time(few);
    const double about = std::max(time(few), 1e-9);
    const double fit = std::min(seconds / about, 2000.0);
    const std::int64_t trips = whole_recordings(static_cast<std::int64_t>(fit));
    return trips <= few ? about : time(trips);
}

timed_loop::timed_loop(const communicator& comm, const execution_options& options)
    : run_(comm, options), one_(run_), unroll_(options.unroll) {
    run_.set(one_.number(), 1.0);
}

double timed_loop::seconds(std::int64_t trips, const std::function<void()>& body) {
    if (trips % unroll_ != 0)
        throw usage_error(std::to_string(trips) + " trips can't be timed in recordings of " +
                          std::to_string(unroll_));
    set_limit(run_, trips);
    run_.unguarded([this] { run_.flush(); }); // the last call's loop has stopped
    run_.comm().synchronize();
    return seconds_of([&] {
        repeat_to_limit(
            run_,
            [&] {
                body();
                test_residual(one_);
            },
            trips);
    });
}

} // namespace krylith
