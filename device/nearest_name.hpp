// "Did you mean ...?": the valid name that a mistyped one is closest to.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace krylith {

/// How many characters must be inserted, removed or replaced to make one text the other
/// (Levenshtein). O(a b).
[[nodiscard]] inline std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> distance(b.size() + 1); // from the part of a so far to b[0..j)
    std::iota(distance.begin(), distance.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = std::exchange(distance[0], i + 1);
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = distance[j + 1];
            distance[j + 1] = std::min({replaced, diagonal + 1, distance[j] + 1});
        }
    }
    return distance.back();
}

/// The first of the valid names that are nearest to the given one; empty if none is valid.
[[nodiscard]] inline std::string nearest_name(std::string_view given,
                                              std::span<const std::string_view> valid) {
    std::string_view nearest;
    std::size_t least = std::numeric_limits<std::size_t>::max();
    for (const std::string_view name : valid) {
        if (const std::size_t distance = edit_distance(given, name); distance < least) {
            least = distance;
            nearest = name;
        }
    }
    return std::string(nearest);
}

} // namespace krylith
