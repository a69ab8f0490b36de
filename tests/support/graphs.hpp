// Graphs for tests, each with the bug that it is there to surface, and facts about them that plain
// loops over lists of edges compute.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <krylith/matrix/csr.hpp>

namespace krylith::testing {

/// A graph: entry (i, j) is an edge i -> j. Weights are multiples of 1/8, so that lengths of paths
/// are exact.
struct graph_case {
    std::string name;
    csr_matrix<double> matrix;
    std::vector<std::int64_t> sources; ///< vertices to start from
};

/// Returns a path, a star, a grid, Kronecker and web graphs, unconnected ones, with loops, of one
/// vertex ...
[[nodiscard]] const std::vector<graph_case>& graph_cases();

/// An edge with its weight; from_edges() takes them in any order.
struct weighted_edge {
    std::int32_t from;
    std::int32_t to;
    double weight;
};
[[nodiscard]] csr_matrix<double> from_edges(std::int64_t vertices,
                                            std::vector<weighted_edge> edges);

/// Returns the levels by a loop with a queue; -1: not reached.
[[nodiscard]] std::vector<std::int32_t> levels_from(const csr_matrix<double>& a,
                                                    std::int64_t source);
/// Returns the least vertex one level before with an edge to each vertex; -1: none.
[[nodiscard]] std::vector<std::int32_t> least_parents(const csr_matrix<double>& a,
                                                      const std::vector<std::int32_t>& levels);
/// Returns the distances by Dijkstra's method.
[[nodiscard]] std::vector<double> distances_from(const csr_matrix<double>& a, std::int64_t source);

/// Returns the ranks by the power method on the stochastic matrix, jumps from dangling vertices
/// included, until nothing changes. `sources` empty: all vertices.
[[nodiscard]] std::vector<double> stationary_ranks(const csr_matrix<double>& a, double damping,
                                                   const std::vector<std::int64_t>& sources);

} // namespace krylith::testing
