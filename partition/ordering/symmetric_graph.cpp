#include <krylith/partition/ordering/symmetric_graph.hpp>

#include <algorithm>

namespace krylith {

symmetric_graph make_symmetric_graph(std::span<const std::int64_t> row_offsets,
                                     std::span<const std::int32_t> column_indices) {
    const std::size_t n = row_offsets.size() - 1;
    const auto for_each_edge = [&](const auto& see) {
        for (std::size_t row = 0; row < n; ++row)
            for (auto k = static_cast<std::size_t>(row_offsets[row]);
                 k < static_cast<std::size_t>(row_offsets[row + 1]); ++k)
                if (const auto column = static_cast<std::size_t>(column_indices[k]); column != row)
                    see(row, column);
    };
    // Each entry is stored at both its ends, then rows are sorted, and duplicates closed up.
    std::vector<std::int64_t> first(n + 1, 0);
    for_each_edge([&](std::size_t row, std::size_t column) {
        ++first[row + 1];
        ++first[column + 1];
    });
    for (std::size_t v = 0; v < n; ++v) first[v + 1] += first[v];
    symmetric_graph graph;
    graph.neighbours.resize(static_cast<std::size_t>(first[n]));
    auto next = first;
    for_each_edge([&](std::size_t row, std::size_t column) {
        graph.neighbours[static_cast<std::size_t>(next[row]++)] = static_cast<std::int32_t>(column);
        graph.neighbours[static_cast<std::size_t>(next[column]++)] = static_cast<std::int32_t>(row);
    });
    graph.offsets.push_back(0);
    auto end = graph.neighbours.begin();
    for (std::size_t v = 0; v < n; ++v) {
        const auto begin = graph.neighbours.begin() + first[v];
        const auto last = graph.neighbours.begin() + first[v + 1];
        std::sort(begin, last);
        end = std::move(begin, std::unique(begin, last), end);
        graph.offsets.push_back(end - graph.neighbours.begin());
    }
    graph.neighbours.erase(end, graph.neighbours.end());
    return graph;
}

} // namespace krylith
