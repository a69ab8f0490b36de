// Graphs that sparse products walk over, each there for a bug that it would show, and what is known
// of them without products: plain loops over lists of edges.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <krylith/matrix/csr.hpp>

namespace krylith::testing {

/// Edge i -> j: entry (i, j). Weights are multiples of 1/8, so that lengths of paths are exact.
struct graph_case {
    std::string name;
    csr_matrix<double> matrix;
    std::vector<std::int64_t> sources; ///< to begin at
};

/// Path, star, grid, Kronecker, web, in pieces, with loops, of one vertex ...
[[nodiscard]] const std::vector<graph_case>& graph_cases();

/// From (row, column, weight), in any order.
struct weighted_edge {
    std::int32_t from;
    std::int32_t to;
    double weight;
};
[[nodiscard]] csr_matrix<double> from_edges(std::int64_t vertices,
                                            std::vector<weighted_edge> edges);

/// With a queue; -1: not reached.
[[nodiscard]] std::vector<std::int32_t> levels_from(const csr_matrix<double>& a,
                                                    std::int64_t source);
/// The least vertex one level before with an edge to this one; -1: none.
[[nodiscard]] std::vector<std::int32_t> least_parents(const csr_matrix<double>& a,
                                                      const std::vector<std::int32_t>& levels);
/// Dijkstra's method.
[[nodiscard]] std::vector<double> distances_from(const csr_matrix<double>& a, std::int64_t source);

/// The power method on the stochastic matrix, jumps from dangling vertices included, until nothing
/// changes. `sources` empty: all vertices.
[[nodiscard]] std::vector<double> stationary_ranks(const csr_matrix<double>& a, double damping,
                                                   const std::vector<std::int64_t>& sources);

} // namespace krylith::testing
