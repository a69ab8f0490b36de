// Connected components: the parts of a graph that no edge connects. Edges count whichever way they
// go, so that those of a directed graph are its weakly connected components. No products: devices
// unite the ends of their edges in trees of vertices (graph/components/vertex_forest.hpp), and the
// first device unites the trees.
#pragma once

#include <cstdint>
#include <vector>

#include <krylith/graph/graph.hpp>
#include <krylith/graph/result/graph_result.hpp>

namespace krylith {

/// Complete always (graph_reason::nothing_left), and without steps.
struct [[nodiscard]] connected_components_result : graph_outcome {
    /// [vertices] the number of the vertex's component. Components are numbered from 0 in the order
    /// of their least vertices: the same on any devices.
    std::vector<std::int32_t> labels;
    std::vector<std::int64_t> sizes; ///< [components] vertices

    [[nodiscard]] std::int64_t components() const noexcept { return std::ssize(sizes); }
};

/// Finds the components of all vertices; one without edges, or with a loop alone, is a component.
/// Each edge is looked at once: O(n + edges), but for walks up short paths. A device takes 4 n
/// bytes beside the graph, the first one 8 n. Throws device_error where memory is short.
template <class T>
connected_components_result connected_components(const graph<T>& g);

} // namespace krylith
