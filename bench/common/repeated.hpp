// Operations repeated as a solver repeats them: recorded once, then by the devices themselves.
#pragma once

#include <cstdint>
#include <functional>

#include <krylith/bench/common/measurement_failed.hpp>
#include <krylith/vector/scalar.hpp>

namespace krylith::bench {

/// The body is enqueued on `run()`; the loop's count of steps costs no kernel of its own.
class repeated {
public:
    /// `trip` bodies are recorded together, or enqueued between looks of the host.
    repeated(const device_group& group, execution_mode mode, int trip);

    [[nodiscard]] execution& run() { return run_; }

    /// Seconds for that many steps. The body must not change from call to call. Throws usage_error
    /// unless `trip` divides them: copies, and products that krylith doesn't compute itself, don't
    /// know of the stop within a turn, and would be timed to its end. Throws measurement_failed
    /// where the loop ended otherwise.
    [[nodiscard]] double seconds(std::int64_t steps, const std::function<void()>& body);

private:
    execution run_;
    scalar one_;
    int trip_;
};

} // namespace krylith::bench
