// Seconds since it was made or last read.
#pragma once

#include <chrono>

namespace krylith::tool {

class stopwatch {
public:
    [[nodiscard]] double lap() {
        const auto now = clock::now();
        const double seconds = std::chrono::duration<double>(now - since_).count();
        since_ = now;
        return seconds;
    }

private:
    using clock = std::chrono::steady_clock;
    clock::time_point since_ = clock::now();
};

} // namespace krylith::tool
