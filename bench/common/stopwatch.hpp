// Seconds since it was made.
#pragma once

#include <chrono>

namespace krylith::bench {

class stopwatch {
public:
    [[nodiscard]] double seconds() const {
        return std::chrono::duration<double>(clock::now() - since_).count();
    }

private:
    using clock = std::chrono::steady_clock;
    clock::time_point since_ = clock::now();
};

} // namespace krylith::bench
