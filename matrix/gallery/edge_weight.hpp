// Random values of a graph's edges, by the vertices that they join.
#pragma once

#include <algorithm>
#include <cstdint>

#include <krylith/matrix/gallery/counter_hash.hpp>

namespace krylith {

/// A weight uniform in (0, 1], for an edge from i to j.
[[nodiscard]] inline double arc_weight(std::uint64_t seed, std::int64_t i, std::int64_t j) {
    return 1 - unit_interval(counter_hash(seed ^ 0xa5c, static_cast<std::uint64_t>(i),
                                          static_cast<std::uint64_t>(j)));
}

/// A weight that is the same for i, j and j, i.
[[nodiscard]] inline double edge_weight(std::uint64_t seed, std::int64_t i, std::int64_t j) {
    return arc_weight(seed, std::min(i, j), std::max(i, j));
}

/// The upper bits of a hash as a number from 0 to n - 1, n < 2^32, each about equally likely.
[[nodiscard]] constexpr std::int64_t below(std::int64_t n, std::uint64_t bits) {
    return static_cast<std::int64_t>(((bits >> 32) * static_cast<std::uint64_t>(n)) >> 32);
}

} // namespace krylith
