// Triangles against three loops over a dense matrix.
#include <krylith/graph/triangle_count.hpp>

#include <utility>
#include <vector>

#include <krylith/matrix/load.hpp>
#include <krylith/tests/support/graphs.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/random.hpp>

namespace krylith {

namespace {

/// The triangles that each vertex is a corner of.
std::vector<std::int64_t> corners_of(const csr_matrix<double>& a) {
    const auto n = static_cast<std::size_t>(a.rows);
    std::vector<std::vector<char>> adjacent(n, std::vector<char>(n, 0));
    for (std::size_t i = 0; i < n; ++i)
        for (auto k = static_cast<std::size_t>(a.row_offsets[i]);
             k < static_cast<std::size_t>(a.row_offsets[i + 1]); ++k) {
            const auto j = static_cast<std::size_t>(a.column_indices[k]);
            adjacent[i][j] = adjacent[j][i] = 1;
        }
    std::vector<std::int64_t> corners(n, 0);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < i; ++j)
            for (std::size_t k = 0; adjacent[i][j] != 0 && k < j; ++k)
                if (adjacent[i][k] != 0 && adjacent[j][k] != 0)
                    for (const std::size_t v : {i, j, k}) ++corners[v];
    return corners;
}

std::int64_t check_triangles(const device_group& group, const csr_matrix<double>& a) {
    const graph<double> g(group, csr_view<double>(a));
    const std::vector<std::int64_t> expected = corners_of(a);
    std::int64_t sum = 0;
    for (const std::int64_t count : expected) sum += count;
    const triangle_count_result all = triangle_count(g);
    CHECK(all.triangles == sum / 3);
    CHECK(all.per_vertex.empty());
    CHECK(all.reason == graph_reason::nothing_left);
    const triangle_count_result corners = triangle_count(g, {.per_vertex = true});
    CHECK(corners.triangles == sum / 3);
    CHECK(corners.per_vertex == expected);
    return all.triangles;
}

/// Every vertex with an edge to every greater one, and `back` as well to every smaller one.
csr_matrix<double> complete(std::int32_t vertices, bool back) {
    std::vector<testing::weighted_edge> edges;
    for (std::int32_t i = 0; i < vertices; ++i)
        for (std::int32_t j = 0; j < vertices; ++j)
            if (i < j || (back && j < i)) edges.push_back({i, j, 1});
    return testing::from_edges(vertices, std::move(edges));
}

/// Random edges in one direction, in both, or in either with loops and parallel edges.
csr_matrix<double> random_graph(std::int32_t vertices, std::int32_t edges, bool both_ways) {
    testing::random_numbers random(static_cast<std::uint64_t>(edges));
    std::vector<testing::weighted_edge> chosen;
    for (std::int32_t e = 0; e < edges; ++e) {
        const std::int32_t from = random.below(vertices);
        const std::int32_t to = random.below(e % 3 == 0 ? 5 : vertices); // five are hubs
        chosen.push_back({from, to, 1});
        if (both_ways) chosen.push_back({to, from, 1});
    }
    return testing::from_edges(vertices, std::move(chosen));
}

} // namespace

KRYLITH_GROUP_TEST("triangles: counts of three loops, in all and by vertex") {
    for (const auto& c : testing::graph_cases()) {
        if (c.matrix.rows > 1100) continue; // the loops would take seconds
        CAPTURE(c.name);
        check_triangles(group, c.matrix);
    }
    for (const bool both_ways : {false, true}) {
        CAPTURE(both_ways);
        CHECK(check_triangles(group, random_graph(300, 2500, both_ways)) > 1000);
        CHECK(check_triangles(group, complete(40, both_ways)) == 40 * 39 * 38 / 6);
    }
}

KRYLITH_GROUP_TEST("triangles: none, loops, an edge stored thrice, one in any direction") {
    CHECK(check_triangles(group, testing::from_edges(0, {})) == 0);
    CHECK(check_triangles(group, testing::from_edges(40, {})) == 0);
    CHECK(check_triangles(group, testing::from_edges(3, {{0, 0, 1}, {1, 1, 1}, {0, 1, 1}})) == 0);
    // Would surface: an edge and its reverse, or a parallel one, taken for two.
    CHECK(check_triangles(
              group, testing::from_edges(3, {{0, 1, 1}, {0, 1, 2}, {1, 0, 1}, {1, 2, 1}})) == 0);
    for (const std::int32_t turned : {0, 1, 2, 3}) {
        std::vector<testing::weighted_edge> edges = {{0, 1, 1}, {1, 2, 1}, {2, 0, 1}};
        if (turned < 3)
            std::swap(edges[static_cast<std::size_t>(turned)].from,
                      edges[static_cast<std::size_t>(turned)].to);
        CHECK(check_triangles(group, testing::from_edges(50, edges)) == 1);
    }
}

TEST_CASE("triangles: enough edges for several threads of a host device") {
    const auto kron = load_matrix<double>("gallery:kron:11");
    const graph<double> one(device_group::host(1, {.host_threads = 1}), csr_view<double>(kron));
    const graph<double> many(device_group::host(1, {.host_threads = 4}), csr_view<double>(kron));
    const auto expected = triangle_count(one, {.per_vertex = true});
    CHECK(expected.triangles > 100000);
    CHECK(triangle_count(many, {.per_vertex = true}).per_vertex == expected.per_vertex);
    CHECK(triangle_count(many).triangles == expected.triangles);
}

} // namespace krylith
