// Each edge of a graph in one direction, from the vertex of fewer edges to that of more: no list is
// longer than the root of twice the edges, hubs have short ones, and each triangle is found once
// (Latapy, Main-memory triangle computations for very large (sparse (power-law)) graphs,
// Theoretical Computer Science 407, 2008).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace krylith {

/// The edges of vertex v are [offsets[v], offsets[v + 1]) of the other arrays.
struct oriented_edges {
    std::vector<std::int64_t> offsets; ///< [vertices + 1]
    std::vector<std::int32_t> sources; ///< v
    std::vector<std::int32_t> targets; ///< ascend strictly for each v

    friend bool operator==(const oriented_edges&, const oriented_edges&) = default;
};

/// Orients the edges of a valid square pattern, whichever way they go; loops are left out, and
/// edges of the same ends count once. `both_ways`: each edge is known to be stored in both
/// directions. O(n + edges log(row length)), by all OpenMP threads; the result is the same for any
/// number of them.
[[nodiscard]] oriented_edges orient(std::span<const std::int64_t> offsets,
                                    std::span<const std::int32_t> columns, bool both_ways);

} // namespace krylith
