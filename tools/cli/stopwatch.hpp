// Seconds since it was made or last read.
#pragma once

#include <chrono>

namespace krylith::tool {

class stopwatch {
public:
    /// Since it was made, or since the last lap.
    [[nodiscard]] double seconds() const {
        return std::chrono::duration<double>(clock::now() - since_).count();
    }

    /// The same, and the next lap begins.
    [[nodiscard]] double lap() {
        const auto now = clock::now();
        const double passed = std::chrono::duration<double>(now - since_).count();
        since_ = now;
        return passed;
    }

private:
    using clock = std::chrono::steady_clock;
    clock::time_point since_ = clock::now();
};

} // namespace krylith::tool
