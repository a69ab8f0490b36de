// Ranks scaled to probabilities.
#pragma once

#include <vector>

namespace krylith {

/// Returns the ranks divided by their sum, which is taken in double, in their order.
template <class T>
[[nodiscard]] std::vector<T> normalised(std::vector<T> ranks) {
    double sum = 0;
    for (const T rank : ranks) sum += static_cast<double>(rank);
    for (T& rank : ranks) rank = static_cast<T>(static_cast<double>(rank) / sum);
    return ranks;
}

} // namespace krylith
