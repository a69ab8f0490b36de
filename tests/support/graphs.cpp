#include <krylith/tests/support/graphs.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>
#include <tuple>
#include <utility>

#include <krylith/matrix/gallery.hpp>
#include <krylith/matrix/load.hpp>

#include <krylith/tests/support/random.hpp>

namespace krylith::testing {

namespace {

template <class Visit>
void for_edges(const csr_matrix<double>& a, std::int64_t from, const Visit& visit) {
    const auto row = static_cast<std::size_t>(from);
    for (auto k = static_cast<std::size_t>(a.row_offsets[row]);
         k < static_cast<std::size_t>(a.row_offsets[row + 1]); ++k)
        visit(static_cast<std::size_t>(a.column_indices[k]), a.values[k]);
}

/// Returns the graph with weights from 1/8 to 4.
csr_matrix<double> with_short_weights(csr_matrix<double> a) {
    random_numbers random(31);
    for (double& value : a.values) value = (1 + random.below(32)) / 8.0;
    return a;
}

csr_matrix<double> path(std::int32_t n) {
    std::vector<weighted_edge> edges;
    for (std::int32_t i = 0; i + 1 < n; ++i) edges.push_back({i, i + 1, 0.5});
    return from_edges(n, edges);
}

/// A star: edges from vertex 0 to all others, or from all others to vertex 0.
csr_matrix<double> star(std::int32_t n, bool outward) {
    std::vector<weighted_edge> edges;
    for (std::int32_t i = 1; i < n; ++i)
        edges.push_back(outward ? weighted_edge{0, i, 1} : weighted_edge{i, 0, 1});
    return from_edges(n, edges);
}

/// Cycles of 5 vertices that nothing connects; every third of the last 50 vertices has only a loop.
csr_matrix<double> in_ranges() {
    std::vector<weighted_edge> edges;
    for (std::int32_t i = 0; i < 100; ++i) edges.push_back({i, i / 5 * 5 + (i + 1) % 5, 1});
    for (std::int32_t i = 100; i < 150; i += 3) edges.push_back({i, i, 0});
    return from_edges(150, edges);
}

/// A short path of many edges, a longer one of few, loops, and weights of 0 in a cycle.
csr_matrix<double> detours() {
    std::vector<weighted_edge> edges;
    for (std::int32_t i = 0; i < 40; ++i) {
        edges.push_back({i, i + 1, 0.125});
        edges.push_back({i, i, 0.125});
        if (i + 10 <= 40) edges.push_back({i, i + 10, 2});
    }
    for (std::int32_t i = 41; i < 48; ++i) edges.push_back({i, i == 47 ? 41 : i + 1, 0});
    edges.push_back({40, 41, 0});
    return from_edges(50, edges);
}

} // namespace

csr_matrix<double> from_edges(std::int64_t vertices, std::vector<weighted_edge> edges) {
    std::sort(edges.begin(), edges.end(), [](const weighted_edge& a, const weighted_edge& b) {
        return std::tie(a.from, a.to) < std::tie(b.from, b.to);
    });
    csr_matrix<double> a;
    a.rows = a.columns = vertices;
    a.row_offsets.assign(static_cast<std::size_t>(vertices) + 1, 0);
    for (const auto& edge : edges) {
        ++a.row_offsets[static_cast<std::size_t>(edge.from) + 1];
        a.column_indices.push_back(edge.to);
        a.values.push_back(edge.weight);
    }
    for (std::size_t i = 1; i < a.row_offsets.size(); ++i) a.row_offsets[i] += a.row_offsets[i - 1];
    return a;
}

const std::vector<graph_case>& graph_cases() {
    static const std::vector<graph_case> cases = [] {
        std::vector<graph_case> all;
        const auto add = [&](const char* name, csr_matrix<double> a,
                             std::vector<std::int64_t> sources) {
            all.push_back({name, std::move(a), std::move(sources)});
        };
        add("one vertex", from_edges(1, {}), {0});
        add("one vertex with a loop", from_edges(1, {{0, 0, 1}}), {0});
        add("no edges", from_edges(70, {}), {0, 69});
        add("path", path(100), {0, 50, 99});
        add("star outwards", star(200, true), {0, 7});
        add("star inwards", star(200, false), {199});
        add("in pieces, with loops", in_ranges(), {3, 98, 103, 104});
        add("detours", detours(), {0, 45});
        add("grid", with_short_weights(load_matrix<double>("gallery:poisson2d:20")), {210});
        add("kron", with_short_weights(load_matrix<double>("gallery:kron:9")), {1});
        add("rmat", with_short_weights(load_matrix<double>("gallery:rmat:9:4")), {0, 100});
        add("web", with_short_weights(load_matrix<double>("gallery:web:1500")), {0, 1499});
        add("road", with_short_weights(load_matrix<double>("gallery:road:8")), {5});
        return all;
    }();
    return cases;
}

std::vector<std::int32_t> levels_from(const csr_matrix<double>& a, std::int64_t source) {
    std::vector<std::int32_t> levels(static_cast<std::size_t>(a.rows), -1);
    std::queue<std::int64_t> waiting;
    levels[static_cast<std::size_t>(source)] = 0;
    for (waiting.push(source); !waiting.empty(); waiting.pop()) {
        const std::int64_t from = waiting.front();
        for_edges(a, from, [&](std::size_t to, double) {
            if (levels[to] >= 0) return;
            levels[to] = levels[static_cast<std::size_t>(from)] + 1;
            waiting.push(static_cast<std::int64_t>(to));
        });
    }
    return levels;
}

std::vector<std::int32_t> least_parents(const csr_matrix<double>& a,
                                        const std::vector<std::int32_t>& levels) {
    std::vector<std::int32_t> parents(levels.size(), -1);
    for (std::int64_t from = a.rows - 1; from >= 0; --from) {
        const std::int32_t level = levels[static_cast<std::size_t>(from)];
        if (level < 0) continue;
        for_edges(a, from, [&](std::size_t to, double) {
            if (levels[to] == level + 1) parents[to] = static_cast<std::int32_t>(from);
        });
    }
    return parents;
}

std::vector<double> distances_from(const csr_matrix<double>& a, std::int64_t source) {
    using waiting_vertex = std::pair<double, std::int64_t>;
    std::vector<double> distances(static_cast<std::size_t>(a.rows),
                                  std::numeric_limits<double>::infinity());
    std::priority_queue<waiting_vertex, std::vector<waiting_vertex>, std::greater<>> waiting;
    distances[static_cast<std::size_t>(source)] = 0;
    waiting.emplace(0.0, source);
    while (!waiting.empty()) {
        const auto [distance, from] = waiting.top();
        waiting.pop();
        if (distance > distances[static_cast<std::size_t>(from)]) continue;
        const double so_far = distance;
        for_edges(a, from, [&](std::size_t to, double weight) {
            if (so_far + weight >= distances[to]) return;
            distances[to] = so_far + weight;
            waiting.emplace(distances[to], static_cast<std::int64_t>(to));
        });
    }
    return distances;
}

std::vector<double> stationary_ranks(const csr_matrix<double>& a, double damping,
                                     const std::vector<std::int64_t>& sources) {
    const auto n = static_cast<std::size_t>(a.rows);
    std::vector<double> jumps(n, sources.empty() ? 1.0 / static_cast<double>(n) : 0.0);
    for (const auto source : sources)
        jumps[static_cast<std::size_t>(source)] = 1.0 / static_cast<double>(sources.size());
    std::vector<double> ranks = jumps;
    for (int step = 0; step < 500; ++step) {
        std::vector<double> next(n, 0.0);
        double jumping = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const auto edges = static_cast<double>(a.row_offsets[i + 1] - a.row_offsets[i]);
            if (edges == 0) {
                jumping += ranks[i];
                continue;
            }
            jumping += (1 - damping) * ranks[i];
            for_edges(a, static_cast<std::int64_t>(i),
                      [&](std::size_t to, double) { next[to] += damping * ranks[i] / edges; });
        }
        double change = 0;
        for (std::size_t i = 0; i < n; ++i) {
            next[i] += jumping * jumps[i];
            change += std::fabs(next[i] - ranks[i]);
        }
        ranks = std::move(next);
        if (change < 2e-15) break;
    }
    return ranks;
}

} // namespace krylith::testing
