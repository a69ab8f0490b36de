#include <krylith/graph/triangle_count.hpp>

#include <numeric>
#include <span>
#include <utility>

#include <krylith/device/memory/buffer.hpp>
#include <krylith/graph/triangles/count_triangles.hpp>
#include <krylith/graph/triangles/oriented_edges.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith {

namespace {

/// A device that counts the triangles of some of the edges.
class edge_counter {
public:
    edge_counter(const std::shared_ptr<device>& on, const oriented_edges& edges,
                 std::int64_t first_edge, std::int64_t end_edge, bool per_vertex)
        : offsets_(on, std::span(edges.offsets), "offsets of oriented edges"),
          sources_(on, std::span(edges.sources), "oriented edges"),
          targets_(on, std::span(edges.targets), "oriented edges"),
          counts_(on, edges.offsets.size() - 1, "triangles of vertices") {
        counts_.zero();
        run_items(*on,
                  count_triangles_task{offsets_.data(), sources_.data(), targets_.data(),
                                       counts_.data(), first_edge, per_vertex},
                  end_edge - first_edge);
    }

    /// Waits.
    [[nodiscard]] std::vector<std::int64_t> counts() const { return counts_.download(); }

private:
    buffer<std::int64_t> offsets_;
    buffer<std::int32_t> sources_;
    buffer<std::int32_t> targets_;
    buffer<std::int64_t> counts_;
};

std::vector<std::int64_t> count_on(const device_group& group, const oriented_edges& edges,
                                   bool per_vertex) {
    const std::int64_t all = std::ssize(edges.sources);
    const std::int64_t ranks = group.size();
    std::vector<edge_counter> counters;
    counters.reserve(as_size(ranks));
    for (int rank = 0; rank < group.size(); ++rank)
        counters.emplace_back(group.handle(rank), edges, all * rank / ranks,
                              all * (rank + 1) / ranks, per_vertex);
    std::vector<std::int64_t> sums(edges.offsets.size() - 1, 0);
    for (const edge_counter& counter : counters) {
        const std::vector<std::int64_t> counts = counter.counts();
        for (std::size_t v = 0; v < sums.size(); ++v) sums[v] += counts[v];
    }
    return sums;
}

} // namespace

template <class T>
triangle_count_result triangle_count(const graph<T>& g, const triangle_count_options& options) {
    triangle_count_result result;
    result.devices = g.group().size();
    g.group().synchronize();
    step_log log(result);
    std::vector<std::int64_t> counts;
    {
        const csr_matrix<T> pattern = g.matrix()->download(false);
        counts =
            count_on(g.group(), orient(pattern.row_offsets, pattern.column_indices, g.undirected()),
                     options.per_vertex);
    }
    result.triangles = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    if (options.per_vertex) {
        result.triangles /= 3;
        result.per_vertex = std::move(counts);
    }
    log.finish(graph_reason::nothing_left);
    return result;
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template triangle_count_result triangle_count(const graph<T>&, const triangle_count_options&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
