#include <krylith/graph/levels/persistent_levels.hpp>

#include <chrono>
#include <utility>

#include <krylith/device/host/host_device.hpp>

namespace krylith::host {

namespace {

using spmspv::frontier_vertex;

/// A frontier that is being built.
struct frontier {
    frontier_vertex* vertices;
    std::int64_t entries = 0;
    std::int64_t frontier_nonzeros = 0;
    bool wide = false;

    void add(const spmspv::edge_lists& graph, std::int32_t vertex) {
        const std::int32_t first = graph.offsets[vertex];
        const std::int32_t degree = graph.offsets[vertex + 1] - first;
        vertices[entries++] = {vertex, first, degree, 0};
        frontier_nonzeros += degree;
        wide = wide || degree > spmspv::widest_vertex;
    }
};

/// Runs one level from `from`.
void reach(const spmspv::level_arguments& a, std::int32_t level, const frontier& from,
           frontier& next) {
    for (std::int64_t i = 0; i < from.entries; ++i) {
        const frontier_vertex u = from.vertices[i];
        for (std::int32_t k = 0; k < u.degree; ++k) {
            const std::int32_t v = a.graph.ends[u.first_edge + k];
            if (a.rule.levels[v] == -1) {
                a.rule.levels[v] = level;
                a.rule.parents[v] = u.vertex;
                a.rule.visited[v / 32] |= std::uint32_t{1} << (v % 32);
                next.add(a.graph, v);
            } else if (a.rule.levels[v] == level && u.vertex < a.rule.parents[v]) {
                a.rule.parents[v] = u.vertex;
            }
        }
    }
}

} // namespace

void run_persistent_levels(device& device, const spmspv::level_arguments& a) {
    static_cast<host_device&>(device).submit([a] {
        using clock = std::chrono::steady_clock;
        frontier now{a.frontiers[0]};
        frontier next{a.frontiers[1]};
        for (std::int64_t i = 0; i < a.entries; ++i) now.add(a.graph, a.indices[i]);
        std::int64_t levels = 0;
        auto before = clock::now();
        while (now.entries != 0 && levels < a.most_levels &&
               now.frontier_nonzeros <= a.most_frontier_nonzeros && !now.wide) {
            next = {next.vertices};
            reach(a, a.rule.level + static_cast<std::int32_t>(levels), now, next);
            const auto after = clock::now();
            std::int64_t* const entry = a.post.words + spmspv::posted_level_heads + 2 * levels++;
            entry[0] = now.entries * spmspv::level_entries_unit + now.frontier_nonzeros;
            entry[1] = std::chrono::nanoseconds(after - before).count();
            before = after;
            std::swap(now, next);
        }
        for (std::int64_t i = 0; i < now.entries; ++i) {
            a.indices[i] = now.vertices[i].vertex;
            a.values[i] = a.rule.outgoing(a.indices[i]);
        }
        *a.count = static_cast<std::int32_t>(now.entries);
        a.post.words[0] = levels;
        a.post.words[1] = now.entries;
        a.post.words[2] = now.frontier_nonzeros;
        a.post.words[3] = now.wide ? 1 : 0;
        *a.post.posted = a.post.number;
    });
}

std::size_t level_scratch_bytes() {
    return 0;
}

} // namespace krylith::host
