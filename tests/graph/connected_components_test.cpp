// Connected components against a search with a queue.
#include <krylith/graph/connected_components.hpp>

#include <utility>
#include <vector>

#include <krylith/tests/support/graphs.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/random.hpp>

namespace krylith {

namespace {

/// The labels by a plain search along edges in both directions, from the least vertex each time.
std::vector<std::int32_t> labels_of(const csr_matrix<double>& a) {
    const auto n = static_cast<std::size_t>(a.rows);
    std::vector<std::vector<std::size_t>> neighbours(n);
    for (std::size_t i = 0; i < n; ++i)
        for (auto k = static_cast<std::size_t>(a.row_offsets[i]);
             k < static_cast<std::size_t>(a.row_offsets[i + 1]); ++k) {
            const auto j = static_cast<std::size_t>(a.column_indices[k]);
            neighbours[i].push_back(j);
            neighbours[j].push_back(i);
        }
    std::vector<std::int32_t> labels(n, -1);
    std::int32_t next = 0;
    for (std::size_t start = 0; start < n; ++start) {
        if (labels[start] >= 0) continue;
        std::vector<std::size_t> waiting{start};
        labels[start] = next;
        while (!waiting.empty()) {
            const std::size_t v = waiting.back();
            waiting.pop_back();
            for (const std::size_t w : neighbours[v])
                if (labels[w] < 0) {
                    labels[w] = next;
                    waiting.push_back(w);
                }
        }
        ++next;
    }
    return labels;
}

void check_components(const device_group& group, const csr_matrix<double>& a) {
    const graph<double> g(group, csr_view<double>(a));
    const connected_components_result found = connected_components(g);
    CHECK(found.labels == labels_of(a));
    CHECK(found.reason == graph_reason::nothing_left);
    std::vector<std::int64_t> sizes(static_cast<std::size_t>(found.components()), 0);
    for (const auto label : found.labels) ++sizes[static_cast<std::size_t>(label)];
    CHECK(found.sizes == sizes);
}

/// As many edges as vertices leave many components of all sizes.
csr_matrix<double> random_edges(std::int32_t vertices, std::int32_t edges, std::uint64_t seed) {
    testing::random_numbers random(seed);
    const auto vertex = [&] { return static_cast<std::int32_t>(random.below(vertices)); };
    std::vector<testing::weighted_edge> chosen;
    chosen.reserve(static_cast<std::size_t>(edges));
    for (std::int32_t e = 0; e < edges; ++e) chosen.push_back({vertex(), vertex(), 1});
    return testing::from_edges(vertices, std::move(chosen));
}

/// A path through all vertices in an order that jumps about: the longest way to the least vertex.
csr_matrix<double> shuffled_path(std::int32_t vertices) {
    std::vector<testing::weighted_edge> edges;
    for (std::int32_t i = 0; i + 1 < vertices; ++i)
        edges.push_back({static_cast<std::int32_t>(i * 7919LL % vertices),
                         static_cast<std::int32_t>((i + 1) * 7919LL % vertices), 1});
    return testing::from_edges(vertices, std::move(edges));
}

} // namespace

KRYLITH_GROUP_TEST("connected components: labels as a plain search finds them") {
    for (const auto& c : testing::graph_cases()) {
        CAPTURE(c.name);
        check_components(group, c.matrix);
    }
    for (const std::int32_t edges : {10, 200, 400, 1200}) {
        CAPTURE(edges);
        check_components(group, random_edges(800, edges, static_cast<std::uint64_t>(edges)));
    }
    check_components(group, shuffled_path(10007)); // several threads of a host device
    check_components(group, random_edges(20000, 15000, 3));
}

KRYLITH_GROUP_TEST("connected components: none, vertices alone, loops, one edge either way") {
    check_components(group, testing::from_edges(0, {}));
    check_components(group, testing::from_edges(1, {}));
    check_components(group, testing::from_edges(100, {}));
    check_components(group, testing::from_edges(70, {{3, 3, 1}, {69, 69, 1}}));
    check_components(group, testing::from_edges(70, {{0, 69, 1}}));
    check_components(group, testing::from_edges(70, {{69, 0, 1}, {69, 0, 2}}));
}

TEST_CASE("connected components: of a graph in fp32") {
    const auto a = testing::from_edges(5, {{4, 1, 1}, {2, 3, 1}});
    csr_matrix<float> narrow;
    narrow.rows = narrow.columns = 5;
    narrow.row_offsets = a.row_offsets;
    narrow.column_indices = a.column_indices;
    narrow.values = {1, 1};
    const graph<float> g(device_group::host(2), csr_view<float>(narrow));
    const auto found = connected_components(g);
    CHECK(found.labels == std::vector<std::int32_t>{0, 1, 2, 2, 1});
    CHECK(found.sizes == std::vector<std::int64_t>{1, 2, 2});
}

} // namespace krylith
