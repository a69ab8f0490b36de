// Breadth-first search level after level in one launch, where levels are so small that a product
// and its wait would cost more than the edges: on one device that has the whole graph.
//
// On CUDA one cooperative kernel, a block a multiprocessor, with one grid barrier a level. A vertex
// u of the frontier looks at the vertices v at the ends of its edges; the least u that leads to a v
// not reached on an earlier level is its parent, as with products:
//
//     levels[v] is -1 or this level  ->  the unsigned minimum of parents[v] and u, in which -1, not
//                                        reached, is the greatest; who replaces it, appends v
//
// What depends on what in a level, in trips to memory (L2: 0.2 us, HBM: 0.6 us; rough figures of an
// H200, whose L2 holds what levels before have touched, but not the edges of this one):
//
//     the frontier's vertices, with first edges and degrees    L2      16 bytes a vertex
//     ends of edges                                             HBM     4 an edge
//     levels, offsets, and the line of parents, all at once     HBM     3 sectors of 32 an edge
//     minimum of parents                                        L2      an atomic an edge to the
//     new place in the next frontier                                L2      an atomic a warp
//     vertices written, barrier, the next level's count         4 L2
//
// 1.2 + 1.4 us, and what the queues and the barrier's spread of blocks add; 20000 edges are 2 MB,
// or 0.5 us. A product takes three launches and a wait for the host.
#pragma once

#include <cstddef>
#include <cstdint>

#include <krylith/device/cuda/posted_words.hpp>
#include <krylith/device/device.hpp>
#include <krylith/graph/frontier/frontier_rules.hpp>

namespace krylith::spmspv {

/// Most levels of a launch: entries of its log.
inline constexpr std::int64_t most_persistent_levels = 1024;

/// Vertices of more edges end a walk, so that no warp is long behind the others.
inline constexpr std::int32_t widest_vertex = 1024;

/// Edges that leave each vertex u: edges[offsets[u] .. offsets[u + 1]) are the vertices that they
/// lead to. by_columns() of a graph's matrix.
struct edge_lists {
    const std::int32_t* offsets;
    const std::int32_t* ends;
};

/// A vertex of a frontier, as the next level wants it.
struct alignas(16) frontier_vertex {
    std::int32_t vertex;
    std::int32_t first_edge;
    std::int32_t degree;
    std::int32_t unused;
};

/// Plain data for kernels.
struct level_arguments {
    edge_lists graph;
    /// The frontier before and after, pairs of x; after, in any order, with values of 0.
    std::int32_t* indices;
    std::int32_t* values;
    std::int32_t* count;
    std::int64_t entries; ///< *count, before
    visit rule;           ///< the level that is reached first; state of levels before it
    frontier_vertex* frontiers[2];
    std::int64_t most_levels;            ///< 1 to most_persistent_levels
    std::int64_t most_frontier_nonzeros; ///< frontiers that more edges leave are left to products
    std::byte* scratch;                  ///< level_scratch_bytes(), zero before the first use
    /// Posts posted_level_words: levels walked, entries and work of the frontier left over, whether
    /// one of its vertices is too wide (0, 1), and then two for each level: level_entries_unit
    /// times the vertices passed on from, plus the edges that leave them; and nanoseconds.
    post_address post;
};

inline constexpr std::int64_t level_entries_unit = std::int64_t{1} << 32;
inline constexpr int posted_level_heads = 4;
inline constexpr int posted_level_words =
    posted_level_heads + 2 * static_cast<int>(most_persistent_levels);

} // namespace krylith::spmspv

// Enqueued. Walks until a frontier is empty, has too much work or too wide a vertex, or there were
// most_levels. Each frontier that is walked from has at most as many entries as `frontiers` hold,
// which min(most_work, vertices) suffice for. On host devices one thread does it: levels that are
// worth more are worth a product.
#define KRYLITH_LEVEL_WALK                                                                         \
    void run_persistent_levels(device& device, const spmspv::level_arguments& a);                  \
    [[nodiscard]] std::size_t level_scratch_bytes();

namespace krylith::host {
KRYLITH_LEVEL_WALK
} // namespace krylith::host

namespace krylith::cuda {
KRYLITH_LEVEL_WALK
} // namespace krylith::cuda

#undef KRYLITH_LEVEL_WALK
