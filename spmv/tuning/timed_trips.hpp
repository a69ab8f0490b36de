// Times device work that the devices repeat by themselves.
#pragma once

#include <cstdint>
#include <functional>

#include <krylith/vector/execution.hpp>
#include <krylith/vector/scalar.hpp>

namespace krylith {

/// Repeats `body` `trips` times. `body` enqueues the work and ends with test_residual(s) of a
/// scalar s that stays finite and not negative. One execution serves one body. Throws device_error
/// where the loop ends early.
void repeat_trips(execution& run, const std::function<void()>& body, std::int64_t trips);

/// Returns `trips` rounded up to what an execution with the usual options records at once, or
/// enqueues between its tests. Copies, and products that krylith doesn't compute itself, don't see
/// a stop within that, and would be timed to its end.
[[nodiscard]] std::int64_t whole_recordings(std::int64_t trips);

/// Returns the mean seconds of a trip of `body`. After some trips that record the loop and warm up,
/// it times as many as fit into about `seconds`, 16 to 2000, in whole recordings.
[[nodiscard]] double seconds_a_trip(execution& run, const std::function<void()>& body,
                                    double seconds);

/// A loop with an execution and a stop test of its own: its body is the work alone, and counting
/// trips costs no kernel.
class timed_loop {
public:
    /// options.unroll bodies are recorded together, or enqueued between the host's tests.
    timed_loop(const communicator& comm, const execution_options& options);

    [[nodiscard]] execution& run() noexcept { return run_; }

    /// Returns the seconds of `trips` trips. The body is enqueued on run() and must not change from
    /// call to call: the first call records it. Throws usage_error unless options.unroll divides
    /// `trips` (see whole_recordings), and device_error where the loop ends early.
    [[nodiscard]] double seconds(std::int64_t trips, const std::function<void()>& body);

private:
    execution run_;
    scalar one_;
    int unroll_;
};

} // namespace krylith
