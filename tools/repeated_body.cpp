#include <krylith/tools/repeated_body.hpp>

#include <limits>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/tools/stopwatch.hpp>

namespace krylith::tool {

repeated_body::repeated_body(execution& run, std::function<void()> body)
    : run_(run), body_(std::move(body)) {}

void repeated_body::repeat(std::int64_t turns) {
    // Nothing but the limit may stop the loop.
    constexpr double never = std::numeric_limits<double>::infinity();
    run_.set(control::state, as_register(loop_state::running));
    run_.set(control::iteration, 0);
    run_.set(control::target, -1);
    run_.set(control::limit, static_cast<double>(turns));
    run_.set(control::pause_at, never);
    run_.set(control::ceiling, never);
    run_.set(control::best, never);
    run_.set(control::best_at, 0);
    run_.set(control::patience, never);
    if (const loop_report end = run_.repeat(body_); end.state != loop_state::limit)
        throw device_error("a timing loop ended after " + std::to_string(end.iterations) + " of " +
                           std::to_string(turns) + " turns");
}

double repeated_body::seconds_a_turn(std::int64_t warm_up, std::int64_t turns) {
    repeat(warm_up);
    stopwatch watch;
    repeat(turns);
    return watch.lap() / static_cast<double>(turns);
}

} // namespace krylith::tool
