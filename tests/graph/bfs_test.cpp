// Breadth-first search against a loop with a queue.
#include <krylith/graph/bfs.hpp>

#include <algorithm>
#include <cmath>
#include <string>

#include <krylith/device/error.hpp>

#include <krylith/tests/support/graphs.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/kernel_choices.hpp>
#include <krylith/tests/support/matrices.hpp>

namespace krylith {

using testing::graph_cases;
using testing::least_parents;
using testing::levels_from;

namespace {

/// Checks the numbers of vertices reached, of edges that leave them, of levels and of steps.
void check_numbers(const csr_matrix<double>& a, const bfs_result& found) {
    std::int64_t reached = 0;
    std::int64_t edges = 0;
    std::int32_t depth = 0;
    for (std::size_t i = 0; i < found.levels.size(); ++i) {
        if (found.levels[i] < 0) continue;
        ++reached;
        edges += a.row_offsets[i + 1] - a.row_offsets[i];
        depth = std::max(depth, found.levels[i]);
    }
    CHECK(found.reached == reached);
    CHECK(found.frontier_nonzeros() == edges);
    CHECK(found.depth == depth);
    CHECK(found.iterations() == depth + 1);
    CHECK(found.reason == graph_reason::nothing_left);
    std::int64_t entries = 0;
    for (const graph_step& step : found.steps) entries += step.entries;
    CHECK(entries == reached);
}

} // namespace

KRYLITH_GROUP_TEST("bfs: levels and least parents, by every kernel, one search after the other") {
    for (const auto& c : graph_cases()) {
        CAPTURE(c.name);
        const graph<double> g(group, csr_view<double>(c.matrix));
        CHECK(g.vertices() == c.matrix.rows);
        CHECK(g.edges() == c.matrix.nnz());
        for (const auto& choice : testing::kernel_choices()) {
            CAPTURE(choice.name);
            breadth_first_search<double> search(g,
                                                {.kernels = choice.options, .one_device = false});
            for (const std::int64_t source : c.sources) {
                CAPTURE(source);
                const bfs_result found = search(source);
                const auto levels = levels_from(c.matrix, source);
                CHECK(found.levels == levels);
                CHECK(found.parents == least_parents(c.matrix, levels));
                check_numbers(c.matrix, found);
                if (!choice.options.fixed) continue;
                for (const graph_step& step : found.steps)
                    for (const auto used : step.kernels) CHECK(used == *choice.options.fixed);
            }
        }
    }
}

KRYLITH_GROUP_TEST("bfs: a graph of other weights or of floats is searched alike") {
    const auto& c = graph_cases().back();
    const auto levels = levels_from(c.matrix, 3);
    auto other = c.matrix;
    other.values.assign(other.values.size(), NAN);
    const graph<double> weights(group, csr_view<double>(other));
    CHECK(bfs(weights, 3).levels == levels);
    const auto narrow = testing::converted<float>(c.matrix);
    const graph<float> floats(group, csr_view<float>(narrow));
    CHECK(bfs(floats, 3).levels == levels);
}

KRYLITH_GROUP_TEST("bfs: max_levels leaves what is further away unreached") {
    const auto& path = graph_cases()[3];
    REQUIRE(path.name == "path");
    const graph<double> g(group, csr_view<double>(path.matrix));
    const bfs_result found = bfs(g, 10, {.max_levels = 7, .one_device = false});
    CHECK(found.reason == graph_reason::max_steps);
    CHECK(found.reached == 8);
    CHECK(found.depth == 7);
    CHECK(found.levels[17] == 7);
    CHECK(found.levels[18] == -1);
    CHECK(found.parents[18] == -1);
}

TEST_CASE("bfs: refuses a source that is no vertex, no levels, and matrices that are no graph") {
    const auto host = device_group::host(2);
    const auto a = testing::from_edges(3, {{0, 1, 1}});
    const graph<double> g(host, csr_view<double>(a));
    CHECK_THROWS_WITH_AS((void)bfs(g, 3), "bfs: the source is vertex 3: allowed are 0 to 2",
                         usage_error);
    CHECK_THROWS_AS((void)bfs(g, -1), usage_error);
    CHECK_THROWS_WITH_AS((void)bfs(g, 0, {.max_levels = 0}),
                         "bfs_options::max_levels is 0: allowed are 1 and more", usage_error);
    const csr_matrix<double> nothing;
    const graph<double> empty(host, csr_view<double>(nothing));
    CHECK_THROWS_WITH_AS((void)bfs(empty, 0), "bfs: the source is vertex 0: the graph has none",
                         usage_error);
    csr_matrix<double> flat = a;
    flat.columns = 4;
    CHECK_THROWS_WITH_AS(graph<double>(host, csr_view<double>(flat)),
                         "the matrix of a graph must be square, not 3 x 4", input_error);
    csr_matrix<double> broken = a;
    broken.column_indices[0] = 3;
    CHECK_THROWS_AS(graph<double>(host, csr_view<double>(broken)), input_error);
}

} // namespace krylith
