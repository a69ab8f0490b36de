#pragma once

#include <algorithm>
#include <cmath>

namespace krylith::bench {

/// The geometric mean of positive numbers, and the least of them.
struct geometric_mean {
    double logarithms = 0; ///< their sum
    double least = 0;
    int count = 0;

    void add(double value) {
        logarithms += std::log(value);
        least = count == 0 ? value : std::min(least, value);
        ++count;
    }
    [[nodiscard]] double value() const { return std::exp(logarithms / count); }
};

} // namespace krylith::bench
