// What one row means to another while aggregates are found: states, keys of the independent sets,
// couplings as small integers, and the order of pairs. Hosts and GPUs share these lines. All that
// is added up or compared are integers, so neither an order of work nor a partition shows in the
// result.
#pragma once

#include <cstdint>

#include <krylith/device/kernel/annotations.hpp>

namespace krylith::aggregation {

/// What is known of a row. Rows of the last three kinds take no part in the second set.
enum row_state : std::uint8_t {
    undecided, ///< it may become a root
    root,      ///< of the set that is being found
    out,       ///< a root of the set is at most two edges away
    left,      ///< it has no aggregate of the first set, and is no root of the second
    first_root,
    joined,  ///< a root of the first set is beside it
    isolated ///< it has no strong entry besides the diagonal
};

/// The largest key of a row and its neighbours, or one of these.
inline constexpr std::uint32_t no_key = 0;
inline constexpr std::uint32_t root_near = 0xffffffffu; ///< the row or a neighbour is a root

inline constexpr std::int32_t no_aggregate = -1;
/// The first round of the second set: its keys differ from those of the first one's rounds.
inline constexpr std::uint32_t second_set = 64;

/// The key of a row in a round, in [1, 2^31]: another for each row below 2^31, since each step can
/// be inverted modulo 2^31. Each round has keys of its own, so that a row with a large neighbour
/// does not wait for a chain of them.
[[nodiscard]] KRYLITH_HD inline std::uint32_t key_of(std::uint32_t global_row,
                                                     std::uint32_t round) {
    constexpr std::uint32_t low = 0x7fffffffu;
    std::uint32_t x = (global_row ^ (round * 0x9e3779b9u)) & low;
    x = (x * 0x2c1b3c6du) & low;
    x ^= x >> 15;
    x = (x * 0x297a2d39u) & low;
    x ^= x >> 13;
    x = (x * 0x68e31da5u) & low;
    x ^= x >> 16;
    return x + 1;
}

/// What stands for an entry in place of a coupling: aggregates don't grow across it, but the
/// prolongation is smoothed with it, since it is large in its own row. A weak entry has 0.
inline constexpr std::uint8_t large_in_row = 255;

/// Whether an entry is a coupling, so that aggregates grow across it.
[[nodiscard]] KRYLITH_HD inline bool is_strong(std::uint8_t coupling) {
    return coupling != 0 && coupling != large_in_row;
}

/// The coupling of two rows, 0 where it is weak: |a_ij| / sqrt(|a_ii a_jj|) in units of 1/256, at
/// least 1 and at most 254. s are the square roots of |a_ii| and |a_jj|.
template <class T>
[[nodiscard]] KRYLITH_HD inline std::uint8_t coupling_of(T magnitude, T s_i, T s_j, T theta) {
    const T scale = s_i * s_j;
    if (!(magnitude > T(0)) || magnitude < theta * scale) return 0;
    const T units = magnitude / scale * T(256);
    if (!(units > T(1))) return 1;
    return units < T(254) ? static_cast<std::uint8_t>(units) : std::uint8_t{254};
}

/// Orders pairs of aggregates that are coupled equally: the same from both sides, and without a
/// direction in space, so that many pairs find each other at once.
[[nodiscard]] KRYLITH_HD inline std::uint32_t pair_key(std::int32_t a, std::int32_t b) {
    const auto low = static_cast<std::uint32_t>(a < b ? a : b);
    const auto high = static_cast<std::uint32_t>(a < b ? b : a);
    return key_of(low, 101) ^ (key_of(high, 211) * 3u);
}

} // namespace krylith::aggregation
