// PageRank against the power method on the stochastic matrix.
#include <krylith/graph/pagerank.hpp>

#include <cmath>
#include <numeric>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>

#include <krylith/tests/support/graphs.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/kernel_choices.hpp>
#include <krylith/tests/support/matrices.hpp>
#include <krylith/tests/support/vectors.hpp>

namespace krylith {

using testing::graph_cases;
using testing::stationary_ranks;

namespace {

template <class T>
double distance(const std::vector<T>& found, const std::vector<double>& expected) {
    REQUIRE(found.size() == expected.size());
    double sum = 0;
    for (std::size_t i = 0; i < found.size(); ++i)
        sum += std::fabs(static_cast<double>(found[i]) - expected[i]);
    return sum;
}

template <class T>
double sum_of(const std::vector<T>& ranks) {
    return std::accumulate(ranks.begin(), ranks.end(), 0.0);
}

} // namespace

KRYLITH_GROUP_TEST("pagerank: within the bound that it gives, by every kernel") {
    for (const auto& c : graph_cases()) {
        CAPTURE(c.name);
        const graph<double> g(group, csr_view<double>(c.matrix));
        const auto expected = stationary_ranks(c.matrix, 0.85, {});
        const bool small = c.matrix.nnz() < 2000;
        for (const auto& choice : testing::kernel_choices()) {
            if (choice.options.fixed && small && c.name != "detours") continue;
            CAPTURE(choice.name);
            const auto found = pagerank(g, {.tolerance = 1e-5, .kernels = choice.options});
            CHECK(found.reason == graph_reason::converged);
            CHECK(found.error_bound <= 1e-5);
            CHECK(distance(found.ranks, expected) <= found.error_bound + 1e-13);
            CHECK(sum_of(found.ranks) == doctest::Approx(1).epsilon(1e-14));
        }
    }
}

KRYLITH_GROUP_TEST("pagerank: personal ranks, other dampings, tight tolerances, both precisions") {
    for (const auto& c : graph_cases()) {
        CAPTURE(c.name);
        const graph<double> g(group, csr_view<double>(c.matrix));
        pagerank_iteration<double> iteration(
            g, {.damping = 0.5, .tolerance = 1e-12, .sources = c.sources});
        const auto expected = stationary_ranks(c.matrix, 0.5, c.sources);
        for (int round = 0; round < 2; ++round) { // memory is used again
            const auto found = iteration();
            CHECK(found.reason == graph_reason::converged);
            CHECK(distance(found.ranks, expected) <= found.error_bound + 1e-13);
        }
        const auto narrow = testing::converted<float>(c.matrix);
        const graph<float> f(group, csr_view<float>(narrow));
        const auto single = pagerank(f, {.damping = 0.5, .sources = c.sources});
        CHECK(single.reason == graph_reason::converged);
        CHECK(distance(single.ranks, expected) <= single.error_bound + 2e-6);
        CHECK(sum_of(single.ranks) == doctest::Approx(1).epsilon(1e-5));
    }
}

KRYLITH_GROUP_TEST("pagerank: the bound holds where steps run out, too") {
    const auto& c = graph_cases().back();
    const graph<double> g(group, csr_view<double>(c.matrix));
    const auto expected = stationary_ranks(c.matrix, 0.85, {});
    double before = 2; // the bound for any two distributions
    for (const std::int64_t steps : {1, 2, 10, 30}) {
        CAPTURE(steps);
        const auto found = pagerank(g, {.tolerance = 1e-12, .max_steps = steps});
        CHECK(found.reason == graph_reason::max_steps);
        CHECK(found.iterations() == steps);
        CHECK(found.error_bound > 1e-12);
        CHECK(found.error_bound <= before);
        before = found.error_bound;
        CHECK(distance(found.ranks, expected) <= found.error_bound);
    }
}

KRYLITH_GROUP_TEST("pagerank: the same bits every time where that is asked for") {
    for (const auto& c : graph_cases()) {
        CAPTURE(c.name);
        const graph<double> g(group, csr_view<double>(c.matrix));
        pagerank_iteration<double> iteration(
            g, {.sources = {c.sources.front()}, .kernels = {.reproducible = true}});
        const auto first = iteration();
        for (int round = 0; round < 3; ++round)
            CHECK(testing::same_bits(iteration().ranks, first.ranks));
    }
}

KRYLITH_GROUP_TEST("pagerank: parallel edges are taken as one") {
    const auto a = testing::from_edges(3, {{0, 1, 1}, {0, 2, 1}, {0, 1, 1}, {1, 0, 1}, {2, 0, 1}});
    const auto once = testing::from_edges(3, {{0, 1, 1}, {0, 2, 1}, {1, 0, 1}, {2, 0, 1}});
    const graph<double> g(group, csr_view<double>(a));
    const auto found = pagerank(g, {.tolerance = 1e-12});
    CHECK(distance(found.ranks, stationary_ranks(once, 0.85, {})) <= found.error_bound + 1e-13);
    CHECK(found.ranks[1] == found.ranks[2]);
}

KRYLITH_GROUP_TEST("pagerank: the same ranks whatever weights edges have") {
    for (const auto& c : graph_cases()) {
        CAPTURE(c.name);
        auto other = c.matrix;
        const std::vector<double> weights = {1, -3, 0, NAN, INFINITY, 0.5};
        for (std::size_t k = 0; k < other.values.size(); ++k)
            other.values[k] = weights[k % weights.size()];
        auto ones = c.matrix;
        ones.values.assign(ones.values.size(), 1);
        const graph<double> g(group, csr_view<double>(ones));
        const graph<double> h(group, csr_view<double>(other));
        for (const auto& choice : testing::kernel_choices()) {
            auto options = choice.options;
            if (options.fixed &&
                spmspv::write_back_of(*options.fixed) == spmspv::write_back::atomic &&
                spmspv::direction_of(*options.fixed) == spmspv::direction::push)
                continue; // atomic kernels give other bits every time
            options.reproducible = true;
            CAPTURE(choice.name);
            const pagerank_options few = {.max_steps = 5, .kernels = options};
            CHECK(testing::same_bits(pagerank(g, few).ranks, pagerank(h, few).ranks));
        }
    }
}

TEST_CASE("pagerank: few changes mean little work") {
    const auto streets = road<double>(100); // 31 thousand vertices
    const graph<double> g(device_group::host(1), csr_view<double>(streets));
    const auto found = pagerank(g, {.tolerance = 1e-4, .sources = {7}});
    CHECK(found.steps.front().entries == 1);
    CHECK(found.steps.back().entries < 300);
    CHECK(found.frontier_nonzeros() < streets.nnz());
}

TEST_CASE("pagerank: hardly more steps than the power method, whatever few vertices get") {
    // From v / (1 - d) the first bound may be d / (1 - d) times that for any two distributions.
    const double power_steps = std::log(1e-6 / 2 * 0.15 / 0.85) / std::log(0.85);
    for (const auto& c : graph_cases()) {
        CAPTURE(c.name);
        const graph<double> g(device_group::host(2), csr_view<double>(c.matrix));
        for (const auto& sources : {std::vector<std::int64_t>(), c.sources}) {
            const auto found = pagerank(g, {.sources = sources});
            CHECK(found.reason == graph_reason::converged);
            CHECK(static_cast<double>(found.iterations()) <= power_steps + 6);
        }
    }
}

KRYLITH_GROUP_TEST("pagerank: undirected graphs take a third of the steps of the power method") {
    const auto streets = road<double>(20);
    const graph<double> g(group, csr_view<double>(streets));
    REQUIRE(g.undirected());
    const auto found = pagerank(g, {.tolerance = 1e-9});
    CHECK(distance(found.ranks, stationary_ranks(streets, 0.85, {})) <= found.error_bound + 1e-13);
    const double power_steps = std::log(1e-9 / 2) / std::log(0.85);
    CHECK(static_cast<double>(found.iterations()) < power_steps / 3);
}

KRYLITH_GROUP_TEST("pagerank: what dangling vertices take out is made up for") {
    // Every third vertex has no edges, others two: two thirds of the surfers are left in a step.
    std::vector<testing::weighted_edge> edges;
    for (std::int32_t i = 0; i < 300; ++i)
        for (const std::int32_t to : {(i * 7 + 1) % 300, (i * 11 + 5) % 300})
            if (i % 3 != 0) edges.push_back({i, to, 1});
    const auto a = testing::from_edges(300, edges);
    const graph<double> g(group, csr_view<double>(a));
    CHECK(!g.undirected());
    const auto found = pagerank(g, {.tolerance = 1e-9});
    CHECK(distance(found.ranks, stationary_ranks(a, 0.85, {})) <= found.error_bound + 1e-13);
    CHECK(found.iterations() < 20); // without the correction errors fall by 2 / 3 d: 37 steps
}

KRYLITH_GROUP_TEST("pagerank: a vertex with very many edges stalls nothing, and gets its rank") {
    // The graph is a ring, with edges from all vertices to the hub and from the hub to some.
    std::vector<testing::weighted_edge> edges;
    constexpr std::int32_t n = 20000;
    for (std::int32_t i = 0; i < n; ++i) {
        edges.push_back({i, (i + 1) % n, 1});
        if (i != 7) edges.push_back({i, 7, 1});
        if (i % 3 == 0) edges.push_back({7, i, 1});
    }
    const auto a = testing::from_edges(n, edges);
    const graph<double> g(group, csr_view<double>(a));
    const auto expected = stationary_ranks(a, 0.85, {});
    pagerank_iteration<double> iteration(g, {.tolerance = 1e-9});
    const auto found = iteration();
    CHECK(distance(found.ranks, expected) <= found.error_bound + 1e-13);
    // The counters must be ready again.
    CHECK(testing::same_bits(iteration().ranks, found.ranks));
    // The frontier becomes dense on the way.
    const auto few = pagerank(g, {.tolerance = 1e-9, .sources = {7}});
    CHECK(distance(few.ranks, stationary_ranks(a, 0.85, {7})) <= few.error_bound + 1e-13);
}

TEST_CASE("pagerank: the empty graph has no ranks") {
    const csr_matrix<double> nothing;
    const graph<double> g(device_group::host(2), csr_view<double>(nothing));
    const auto found = pagerank(g);
    CHECK(found.ranks.empty());
    CHECK(found.reason == graph_reason::converged);
}

TEST_CASE("pagerank: refuses options out of range, and sources that are none") {
    const auto a = testing::from_edges(3, {{0, 1, 1}});
    const auto host = device_group::host(1);
    const graph<double> g(host, csr_view<double>(a));
    CHECK_THROWS_WITH_AS((void)pagerank(g, {.damping = 1}),
                         "pagerank_options::damping is 1: allowed are 0 <= damping < 1",
                         usage_error);
    CHECK_THROWS_AS((void)pagerank(g, {.damping = NAN}), usage_error);
    CHECK_THROWS_AS((void)pagerank(g, {.tolerance = 0}), usage_error);
    CHECK_THROWS_WITH_AS((void)pagerank(g, {.tolerance = -1e-9}),
                         "pagerank_options::tolerance is -1e-09: allowed are 0 < tolerance < 1",
                         usage_error);
    CHECK_THROWS_WITH_AS((void)pagerank(g, {.max_steps = 0}),
                         "pagerank_options::max_steps is 0: allowed are 1 and more", usage_error);
    CHECK_THROWS_AS((void)pagerank(g, {.sources = {3}}), usage_error);
    CHECK_THROWS_WITH_AS((void)pagerank(g, {.sources = {1, 0, 1}}),
                         "pagerank_options::sources has vertex 1 twice: allowed is each once",
                         usage_error);
    CHECK_THROWS_WITH_AS((void)pagerank(g, {.kernels = {.fixed = spmspv::kernel::column_atomic,
                                                        .reproducible = true}}),
                         doctest::Contains("column-atomic"), usage_error);
}

} // namespace krylith
