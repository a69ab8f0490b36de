// Triangles: three vertices with an edge between any two. Edges count whichever way they go, loops
// not at all. Each edge is oriented towards the vertex of more edges (graph/triangles/), and the
// triangles on it are what the sorted lists of its two ends have in common; devices take equally
// many edges.
#pragma once

#include <cstdint>
#include <vector>

#include <krylith/graph/graph.hpp>
#include <krylith/graph/result/graph_result.hpp>

namespace krylith {

struct triangle_count_options {
    bool per_vertex = false; ///< also the triangles that each vertex is a corner of
};

/// Complete always (graph_reason::nothing_left), and without steps.
struct [[nodiscard]] triangle_count_result : graph_outcome {
    std::int64_t triangles = 0;
    std::vector<std::int64_t> per_vertex; ///< [vertices], or empty; sums to 3 times the triangles
};

/// Counts the triangles. The host gets the pattern from the devices, 4 bytes an edge, and orients
/// it in O(n + edges log(row length)); then each device takes 8 bytes for each edge (the two
/// directions of an undirected one together) and 16 a vertex. Counting costs O(edges^1.5) at most.
/// Throws device_error where memory is short.
template <class T>
triangle_count_result triangle_count(const graph<T>& g, const triangle_count_options& options = {});

} // namespace krylith
