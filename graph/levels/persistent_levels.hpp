// Breadth-first search with many levels in one launch, for levels so small that a product and its
// wait cost more than the edges. It needs one device that has the whole graph.
//
// On CUDA this is one cooperative kernel, a block a multiprocessor, with one grid barrier a level.
// Each vertex u of the frontier tests the vertices v at the ends of its edges; the least u that
// leads to a v not reached on an earlier level is its parent, as with products:
//
//     levels[v] is -1 or this level  ->  the unsigned minimum of parents[v] and u, in which -1, not
//                                        reached, is the greatest; whoever replaces -1 appends v
//
// The chain of dependent accesses in a level, in trips to memory (L2: 0.2 us, HBM: 0.6 us; rough
// figures of an H200, whose L2 holds what earlier levels touched, but not the edges of this one):
//
//     the frontier's vertices, with first edges and degrees    L2      16 bytes a vertex
//     ends of edges                                             HBM     4 an edge
//     levels, offsets, and the line of parents, all at once     HBM     3 sectors of 32 an edge
//     minimum of parents                                        L2      an atomic an edge to the
//     place in the next frontier                                L2      an atomic a warp
//     vertices written, barrier, the next level's count         4 L2
//
// These are 1.2 + 1.4 us, besides queues and the spread of blocks at the barrier; 20000 edges are 2
// MB, or 0.5 us. A product takes three launches and a wait for the host.
#pragma once

#include <cstddef>
#include <cstdint>

#include <krylith/device/cuda/posted_words.hpp>
#include <krylith/device/loops/backend_choice.hpp>
#include <krylith/graph/frontier/frontier_rules.hpp>

namespace krylith::spmspv {

/// The most levels of a launch, which is the size of its log.
inline constexpr std::int64_t most_persistent_levels = 1024;

/// Vertices with more edges end a launch, so that no warp takes much longer than the others.
inline constexpr std::int32_t widest_vertex = 1024;

/// The edges that leave each vertex u lead to ends[offsets[u]] .. ends[offsets[u + 1] - 1]. They
/// are by_columns() of a graph's matrix.
struct edge_lists {
    const std::int32_t* offsets;
    const std::int32_t* ends;
};

/// A vertex of a frontier with what the next level needs.
struct alignas(16) frontier_vertex {
    std::int32_t vertex;
    std::int32_t first_edge;
    std::int32_t degree;
    std::int32_t unused;
};

/// The arguments of a launch. Plain data for kernels.
struct level_arguments {
    edge_lists graph;
    /// The frontier before and after, as pairs of x; afterwards in any order, with values of 0.
    std::int32_t* indices;
    std::int32_t* values;
    std::int32_t* count;
    std::int64_t entries; ///< *count before the launch
    visit rule;           ///< the first level that is reached, with the state of the levels before
                          ///< it
    frontier_vertex* frontiers[2];
    std::int64_t most_levels;            ///< 1 to most_persistent_levels
    std::int64_t most_frontier_nonzeros; ///< frontiers with more are left to products
    std::byte* scratch;                  ///< level_scratch_bytes(), zero before the first use
    /// Where posted_level_words words are posted: the number of levels, entries and nonzeros of the
    /// frontier that is left, whether one of its vertices is too wide (0, 1), and then two for each
    /// level: level_entries_unit times the vertices that it started from, plus the edges that leave
    /// them; and nanoseconds.
    post_address post;
};

inline constexpr std::int64_t level_entries_unit = std::int64_t{1} << 32;
inline constexpr int posted_level_heads = 4;
inline constexpr int posted_level_words =
    posted_level_heads + 2 * static_cast<int>(most_persistent_levels);

} // namespace krylith::spmspv

namespace krylith {

KRYLITH_HOST_AND_CUDA(
    /// Enqueues levels until a frontier is empty, has too many nonzeros or too wide a vertex, or
    /// most_levels are done. Each frontier that a level starts from must fit into `frontiers`, for
    /// which min(most_frontier_nonzeros, vertices) entries suffice. On host devices one thread runs
    /// the levels: larger ones are left to products.
    void run_persistent_levels(device& device, const spmspv::level_arguments& a);
    [[nodiscard]] std::size_t level_scratch_bytes();)

} // namespace krylith
