// The graph of A + A' for a square matrix, without loops.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace krylith {

/// A graph. The neighbours of vertex v ascend, each once: neighbours[offsets[v] .. offsets[v + 1]).
struct symmetric_graph {
    std::vector<std::int64_t> offsets;
    std::vector<std::int32_t> neighbours;

    [[nodiscard]] std::int64_t vertices() const {
        return static_cast<std::int64_t>(offsets.size()) - 1;
    }
    [[nodiscard]] std::span<const std::int32_t> of(std::int64_t vertex) const {
        const auto v = static_cast<std::size_t>(vertex);
        return std::span(neighbours)
            .subspan(static_cast<std::size_t>(offsets[v]),
                     static_cast<std::size_t>(offsets[v + 1] - offsets[v]));
    }
    [[nodiscard]] std::int64_t degree(std::int64_t vertex) const {
        const auto v = static_cast<std::size_t>(vertex);
        return offsets[v + 1] - offsets[v];
    }
};

/// Makes the graph of a valid square CSR pattern, duplicates allowed. O(n + nnz log(most in a
/// row)).
[[nodiscard]] symmetric_graph make_symmetric_graph(std::span<const std::int64_t> row_offsets,
                                                   std::span<const std::int32_t> column_indices);

} // namespace krylith
