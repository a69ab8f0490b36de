// Breadth-first search with many levels in one launch, against the same with products alone.
#include <krylith/graph/bfs.hpp>

#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/matrix/load.hpp>

#include <krylith/tests/support/graphs.hpp>
#include <krylith/tests/support/groups.hpp>

namespace krylith {

namespace {

constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();
constexpr std::int32_t path_length = 2600; // two full logs and a bit more

struct long_case {
    std::string name;
    csr_matrix<double> matrix;
    std::vector<std::int64_t> sources;
};

/// A graph with levels of these widths, in the order of the list, so that products and launches
/// alternate.
csr_matrix<double> widths(const std::vector<std::int32_t>& list) {
    std::vector<testing::weighted_edge> edges;
    std::int32_t first = 0; // the first vertex of the level before
    std::int32_t before = 1;
    for (const std::int32_t width : list) {
        for (std::int32_t i = 0; i < width; ++i) {
            edges.push_back({first + i % before, first + before + i, 1});
            if (i % before != before - 1 && i % 3 == 0) // a greater parent, which must not win
                edges.push_back({first + before - 1, first + before + i, 1});
        }
        for (std::int32_t i = 1; i < before && i < 3; ++i)
            edges.push_back({first + i, first + i - 1, 1}); // an edge within a level
        first += before;
        before = width;
    }
    for (std::int32_t i = 0; i < first + before; i += 5) edges.push_back({i, i, 1});
    return testing::from_edges(first + before + 40, edges); // the last 40 are not reached
}

const std::vector<long_case>& long_cases() {
    static const std::vector<long_case> cases = [] {
        std::vector<testing::weighted_edge> path(path_length);
        for (std::int32_t i = 0; i < path_length; ++i)
            path[static_cast<std::size_t>(i)] = {i, i + 1, 1};
        std::vector<std::int32_t> turns;
        for (int k = 0; k < 6; ++k) turns.insert(turns.end(), {3, 40, 90, 150, 90, 1200, 30, 2});
        std::vector<long_case> all;
        all.push_back({"road", load_matrix<double>("gallery:road:40"), {7, 0}});
        all.push_back({"poisson2d", load_matrix<double>("gallery:poisson2d:60"), {0, 1800}});
        all.push_back({"kron", load_matrix<double>("gallery:kron:11"), {1, 3}});
        all.push_back({"path", testing::from_edges(path_length + 1, path), {0, 2500}});
        all.push_back({"turns", widths(turns), {0}});
        return all;
    }();
    return cases;
}

std::vector<std::pair<std::int64_t, std::int64_t>> sizes_of(const bfs_result& found) {
    std::vector<std::pair<std::int64_t, std::int64_t>> sizes;
    for (const graph_step& step : found.steps)
        sizes.emplace_back(step.entries, step.frontier_nonzeros);
    return sizes;
}

std::int64_t launched(const bfs_result& found) {
    std::int64_t count = 0;
    for (const graph_step& step : found.steps) count += step.launch != 0 ? 1 : 0;
    return count;
}

void check_same(const bfs_result& found, const bfs_result& expected) {
    CHECK(found.levels == expected.levels);
    CHECK(found.parents == expected.parents);
    CHECK(found.reached == expected.reached);
    CHECK(found.depth == expected.depth);
    CHECK(found.reason == expected.reason);
    CHECK(sizes_of(found) == sizes_of(expected));
}

/// Checks that steps in launches have no kernels and the others have some, that launches count up,
/// and that times add up.
void check_steps(const bfs_result& found) {
    std::int32_t launch = 0;
    std::int64_t in_launch = 0;
    double seconds = 0;
    for (const graph_step& step : found.steps) {
        CHECK(step.seconds >= 0);
        seconds += step.seconds;
        CHECK((step.launch != 0) == step.kernels.empty());
        if (step.launch == 0) continue;
        CHECK((step.launch == launch || step.launch == launch + 1));
        in_launch = step.launch == launch ? in_launch + 1 : 1;
        launch = step.launch;
        CHECK(in_launch <= spmspv::most_persistent_levels);
    }
    CHECK(seconds <= found.seconds * 1.05 + 1e-4); // the clocks of device and host differ
}

} // namespace

KRYLITH_GROUP_TEST("bfs: in launches or by products, levels, parents and steps are the same") {
    for (const auto& c : long_cases()) {
        CAPTURE(c.name);
        const graph<double> g(group, csr_view<double>(c.matrix));
        breadth_first_search<double> products(g, {.level_limit = 0, .one_device = false});
        const bool one = g.matrix()->local().size() == 1;
        std::vector<std::optional<std::int64_t>> limits = {huge};
        if (one) limits.insert(limits.end(), {std::nullopt, 1, 100});
        for (const auto& limit : limits) {
            CAPTURE(limit.value_or(-1));
            breadth_first_search<double> search(g, {.level_limit = limit, .one_device = false});
            for (const auto source : c.sources) {
                CAPTURE(source);
                const bfs_result expected = products(source);
                CHECK(launched(expected) == 0);
                const bfs_result found = search(source);
                check_same(found, expected);
                check_steps(found);
                if (!one) CHECK(launched(found) == 0);
                if (one && (limit == huge || limit == 100)) CHECK(launched(found) > 0);
            }
        }
    }
}

KRYLITH_GROUP_TEST("bfs: several devices have no persistent levels") {
    const graph<double> g(group, csr_view<double>(long_cases()[0].matrix));
    const bfs_result found = bfs(g, 0, {.level_limit = huge, .one_device = false});
    CHECK(launched(found) == (group.size() == 1 ? found.iterations() : 0));
}

KRYLITH_GROUP_TEST("bfs: on the first device alone the levels are the same, and persistent") {
    for (const auto& c : long_cases()) {
        CAPTURE(c.name);
        const graph<double> g(group, csr_view<double>(c.matrix));
        breadth_first_search<double> all(g, {.one_device = false});
        breadth_first_search<double> one(g, {.level_limit = huge, .one_device = true});
        breadth_first_search<double> chosen(g, {.level_limit = huge});
        for (const auto source : c.sources) {
            const bfs_result expected = all(source);
            CHECK(expected.devices == std::ssize(g.matrix()->local()));
            const bfs_result found = one(source);
            check_same(found, expected);
            CHECK(found.devices == 1);
            CHECK(launched(found) > 0);
            const bfs_result left_open = chosen(source);
            check_same(left_open, expected);
            CHECK(left_open.devices ==
                  (group.kind() == backend::cuda ? 1 : std::ssize(g.matrix()->local())));
        }
    }
}

KRYLITH_GROUP_TEST("bfs: fixed and predicted kernels are not passed over by persistent levels") {
    const graph<double> g(group, csr_view<double>(long_cases()[1].matrix));
    for (const auto& kernels : {spmspv::adaptive_options{.fixed = spmspv::kernel::row},
                                spmspv::adaptive_options{.as_predicted = true}})
        CHECK(launched(bfs(g, 0, {.level_limit = huge, .kernels = kernels})) == 0);
}

KRYLITH_GROUP_TEST(
    "bfs: products and launches take turns, and long searches take several launches") {
    const auto& turns = long_cases()[4];
    const graph<double> g(group, csr_view<double>(turns.matrix));
    if (group.size() > 1) return; // as in the test before
    const bfs_result found = bfs(g, 0, {.level_limit = 100});
    const auto& path = long_cases()[3];
    const graph<double> line(group, csr_view<double>(path.matrix));
    const bfs_result along = bfs(line, 0, {.level_limit = 100});
    std::int32_t launches = 0;
    for (const graph_step& step : found.steps) launches = std::max(launches, step.launch);
    CHECK(launches >= 6);
    CHECK(launched(found) < found.iterations());
    CHECK(launched(along) == path_length + 1);
    CHECK(along.steps.back().launch == 3);
}

KRYLITH_GROUP_TEST("bfs: a star has a vertex that is a product's") {
    std::vector<testing::weighted_edge> edges = {{0, 1, 1}};
    for (std::int32_t i = 2; i < 3000; ++i) edges.push_back({1, i, 1});
    edges.push_back({2999, 0, 1});
    const auto star = testing::from_edges(3000, edges);
    const graph<double> g(group, csr_view<double>(star));
    const bfs_result found = bfs(g, 0, {.level_limit = huge});
    check_same(found, bfs(g, 0, {.level_limit = 0}));
    REQUIRE(found.iterations() == 3);
    CHECK(found.steps[1].launch == 0);
    if (group.size() == 1) CHECK(launched(found) == 2);
}

KRYLITH_GROUP_TEST("bfs: max_levels ends launches too") {
    const auto& path = long_cases()[3];
    const graph<double> g(group, csr_view<double>(path.matrix));
    for (const std::int64_t levels : {1, 2, 1023, 1024, 1025, 2100}) {
        if (group.size() > 1 && levels > 2) continue;
        CAPTURE(levels);
        const bfs_result found = bfs(g, 10, {.max_levels = levels, .level_limit = huge});
        CHECK(found.reason == graph_reason::max_steps);
        CHECK(found.iterations() == levels);
        CHECK(found.depth == levels);
        CHECK(found.reached == levels + 1);
        CHECK(found.levels[static_cast<std::size_t>(10 + levels)] == levels);
        CHECK(found.levels[static_cast<std::size_t>(11 + levels)] == -1);
        CHECK(found.parents[static_cast<std::size_t>(11 + levels)] == -1);
    }
}

TEST_CASE("bfs: refuses a negative limit of levels") {
    const auto a = testing::from_edges(3, {{0, 1, 1}});
    const graph<double> g(device_group::host(1), csr_view<double>(a));
    CHECK_THROWS_WITH_AS((void)bfs(g, 0, {.level_limit = -1}),
                         "bfs_options::level_limit is -1: allowed are 0 and more", usage_error);
}

} // namespace krylith
