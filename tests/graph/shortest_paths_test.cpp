// Shortest paths against Dijkstra's method.
#include <krylith/graph/shortest_paths.hpp>

#include <algorithm>
#include <cmath>

#include <krylith/device/error.hpp>

#include <krylith/tests/support/graphs.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/kernel_choices.hpp>
#include <krylith/tests/support/matrices.hpp>

namespace krylith {

using testing::distances_from;
using testing::from_edges;
using testing::graph_cases;

KRYLITH_GROUP_TEST("shortest_paths: exact distances, by every kernel") {
    for (const auto& c : graph_cases()) {
        CAPTURE(c.name);
        const graph<double> g(group, csr_view<double>(c.matrix));
        for (const auto& choice : testing::kernel_choices()) {
            CAPTURE(choice.name);
            shortest_paths_search<double> search(g,
                                                 {.kernels = choice.options, .one_device = false});
            for (const std::int64_t source : c.sources) {
                if (choice.options.fixed && source != c.sources.front()) continue;
                CAPTURE(source);
                const auto found = search(source);
                CHECK(found.distances == distances_from(c.matrix, source));
                CHECK(found.reason == graph_reason::nothing_left);
                CHECK(found.iterations() <= c.matrix.rows);
                std::int64_t reached = 0;
                for (const double distance : found.distances) reached += std::isfinite(distance);
                CHECK(found.reached == reached);
            }
        }
    }
}

KRYLITH_GROUP_TEST("shortest_paths: on the first device alone the distances are the same") {
    for (const auto& c : graph_cases()) {
        CAPTURE(c.name);
        const graph<double> g(group, csr_view<double>(c.matrix));
        for (const std::int64_t source : c.sources) {
            const auto found = shortest_paths(g, source, {.one_device = true});
            CHECK(found.devices == std::min<std::int64_t>(1, std::ssize(g.matrix()->local())));
            CHECK(found.distances == distances_from(c.matrix, source));
        }
    }
}

KRYLITH_GROUP_TEST("shortest_paths: in single precision, where lengths are exact") {
    for (const auto& c : graph_cases()) {
        CAPTURE(c.name);
        const auto narrow = testing::converted<float>(c.matrix);
        const graph<float> g(group, csr_view<float>(narrow));
        const auto found = shortest_paths(g, c.sources.front());
        const auto expected = distances_from(c.matrix, c.sources.front());
        CHECK(found.distances == std::vector<float>(expected.begin(), expected.end()));
    }
}

KRYLITH_GROUP_TEST("shortest_paths: after max_steps no distance is too short") {
    const auto a = from_edges(4, {{0, 1, 1}, {1, 2, 1}, {0, 2, 5}, {2, 3, 1}});
    const graph<double> g(group, csr_view<double>(a));
    const auto found = shortest_paths(g, 0, {.max_steps = 1});
    CHECK(found.reason == graph_reason::max_steps);
    CHECK(found.distances == std::vector<double>{0, 1, 5, INFINITY});
    CHECK(found.reached == 3);
}

TEST_CASE("shortest_paths: infinite weights are no edges") {
    const auto a = from_edges(3, {{0, 1, INFINITY}, {0, 2, 1}});
    const graph<double> g(device_group::host(1), csr_view<double>(a));
    CHECK(shortest_paths(g, 0).distances == std::vector<double>{0, INFINITY, 1});
}

KRYLITH_GROUP_TEST("shortest_paths: of parallel edges the shortest counts") {
    const auto a = from_edges(3, {{0, 1, 2}, {0, 1, 0.5}, {0, 1, 1}, {1, 2, 4}, {1, 2, 4}});
    const graph<double> g(group, csr_view<double>(a));
    CHECK(g.edges() == 2);
    const auto found = shortest_paths(g, 0);
    CHECK(found.distances == std::vector<double>{0, 0.5, 4.5});
    CHECK(found.frontier_nonzeros() == 2);
}

TEST_CASE("shortest_paths: refuses negative weights and NaN, and sources that are none") {
    const auto host = device_group::host(2);
    const auto a = from_edges(3, {{0, 1, 1}, {1, 2, -2}, {2, 0, -3}});
    const graph<double> negative(host, csr_view<double>(a));
    CHECK_THROWS_WITH_AS((void)shortest_paths(negative, 0),
                         "shortest_paths: the edge from vertex 1 to 2 has the weight -2: "
                         "allowed are 0 and more",
                         input_error);
    const auto b = from_edges(2, {{0, 1, NAN}});
    const graph<double> unknown(host, csr_view<double>(b));
    CHECK_THROWS_AS((void)shortest_paths(unknown, 0), input_error);
    const auto c = from_edges(2, {{0, 1, 1}});
    const graph<double> good(host, csr_view<double>(c));
    CHECK_THROWS_AS((void)shortest_paths(good, 2), usage_error);
    CHECK_THROWS_AS((void)shortest_paths(good, 0, {.max_steps = 0}), usage_error);
}

} // namespace krylith
