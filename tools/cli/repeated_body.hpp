// How long a piece of device work takes when the devices repeat it by themselves.
#pragma once

#include <cstdint>
#include <functional>

#include <krylith/vector/scalar.hpp>

namespace krylith::tool {

/// `body` enqueues the work and ends with test_residual(s) of a scalar s that stays finite and not
/// negative: the test counts a turn, and the loop ends when there have been enough. One execution
/// serves one body.
class repeated_body {
public:
    repeated_body(execution& run, std::function<void()> body);

    /// Mean over so many turns, rounded up to whole recordings, after at least `warm_up` turns,
    /// which also record the loop. `run` has the usual options.
    [[nodiscard]] double seconds_a_trip(std::int64_t warm_up, std::int64_t trips);

private:
    void repeat(std::int64_t trips);

    execution& run_;
    std::function<void()> body_;
};

} // namespace krylith::tool
