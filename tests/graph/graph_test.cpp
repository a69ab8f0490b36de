// Facts that a graph knows of its edges.
#include <krylith/graph/graph.hpp>

#include <utility>
#include <vector>

#include <krylith/tests/support/graphs.hpp>
#include <krylith/tests/support/groups.hpp>

namespace krylith {

KRYLITH_GROUP_TEST("graph: edges that leave each vertex, wherever its columns are") {
    for (const auto& c : testing::graph_cases()) {
        CAPTURE(c.name);
        const graph<double> g(group, csr_view<double>(c.matrix));
        std::vector<std::int64_t> expected;
        for (std::size_t row = 0; row + 1 < c.matrix.row_offsets.size(); ++row)
            expected.push_back(c.matrix.row_offsets[row + 1] - c.matrix.row_offsets[row]);
        CHECK(g.out_degrees() == expected);
    }
    const csr_matrix<double> nothing;
    CHECK(graph<double>(group, csr_view<double>(nothing)).out_degrees().empty());
}

TEST_CASE("graph: undirected if each edge goes both ways, whatever its weights") {
    const auto undirected = [](std::int64_t vertices, std::vector<testing::weighted_edge> edges) {
        const auto a = testing::from_edges(vertices, std::move(edges));
        return graph<double>(device_group::host(2), csr_view<double>(a)).undirected();
    };
    CHECK(undirected(3, {}));
    CHECK(undirected(3, {{1, 1, 2}}));
    CHECK(undirected(3, {{0, 1, 2}, {1, 0, 5}, {2, 2, 1}}));
    CHECK(undirected(3, {{0, 1, 2}, {0, 1, 3}, {1, 0, 5}})); // parallel edges count once
    CHECK(!undirected(3, {{0, 1, 2}}));
    CHECK(!undirected(3, {{0, 1, 2}, {1, 2, 2}, {2, 0, 2}}));
    CHECK(!undirected(4, {{0, 1, 2}, {1, 0, 2}, {2, 3, 2}}));
}

} // namespace krylith
