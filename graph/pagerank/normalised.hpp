// Ranks scaled to probabilities.
#pragma once

#include <algorithm>
#include <cstddef>
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

/// ranks + residuals, entry by entry, of which none is below 0, as no limit is; no residuals count
/// as zeros.
template <class T>
[[nodiscard]] std::vector<T> sum_of_ranks(std::vector<T> ranks, const std::vector<T>& residuals) {
    for (std::size_t i = 0; i < ranks.size(); ++i)
        ranks[i] = std::max(ranks[i] + (residuals.empty() ? T(0) : residuals[i]), T(0));
    return ranks;
}

} // namespace krylith
