// Many levels in one launch, from the middle of a search to wherever launches end, against a loop.
#include <krylith/graph/levels/persistent_search.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/matrix/load.hpp>
#include <krylith/spmspv/semiring.hpp>

#include <krylith/tests/spmspv/one_device.hpp>
#include <krylith/tests/support/graphs.hpp>

namespace krylith::spmspv {

namespace {

constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

/// A search in plain arrays.
struct search {
    std::vector<std::int32_t> offsets;
    std::vector<std::int32_t> ends;
    std::vector<std::int32_t> levels;
    std::vector<std::int32_t> parents;
    std::vector<std::int32_t> frontier; ///< ascending
    std::int32_t level = 1;             ///< the next level that is reached

    search(const csr_matrix<double>& a, std::int64_t source)
        : offsets(a.row_offsets.begin(), a.row_offsets.end()),
          ends(a.column_indices.begin(), a.column_indices.end()),
          levels(static_cast<std::size_t>(a.rows), -1),
          parents(levels),
          frontier{static_cast<std::int32_t>(source)} {
        levels[static_cast<std::size_t>(source)] = 0;
    }
    [[nodiscard]] std::int64_t degree(std::int32_t u) const {
        return offsets[static_cast<std::size_t>(u) + 1] - offsets[static_cast<std::size_t>(u)];
    }
    [[nodiscard]] std::int64_t frontier_nonzeros() const {
        std::int64_t sum = 0;
        for (const auto u : frontier) sum += degree(u);
        return sum;
    }
    [[nodiscard]] bool wide() const {
        return std::any_of(frontier.begin(), frontier.end(),
                           [&](std::int32_t u) { return degree(u) > widest_vertex; });
    }
    [[nodiscard]] std::vector<std::uint32_t> visited() const {
        std::vector<std::uint32_t> bits((levels.size() + 31) / 32, 0);
        for (std::size_t v = 0; v < levels.size(); ++v)
            if (levels[v] >= 0) bits[v / 32] |= std::uint32_t{1} << (v % 32);
        return bits;
    }
    void reach() {
        std::vector<std::int32_t> next;
        for (const auto u : frontier) // the least parent comes first
            for (auto k = offsets[static_cast<std::size_t>(u)];
                 k < offsets[static_cast<std::size_t>(u) + 1]; ++k) {
                const auto v = static_cast<std::size_t>(ends[static_cast<std::size_t>(k)]);
                if (levels[v] >= 0) continue;
                levels[v] = level;
                parents[v] = u;
                next.push_back(static_cast<std::int32_t>(v));
            }
        std::sort(next.begin(), next.end());
        frontier = std::move(next);
        ++level;
    }
};

/// The same search on a device.
struct checked_search {
    std::shared_ptr<device> on;
    buffer<std::int32_t> offsets;
    buffer<std::int32_t> ends;
    buffer<std::int32_t> levels;
    buffer<std::int32_t> parents;
    buffer<std::uint32_t> visited;
    sparse_vector<std::int32_t> x;
    persistent_search searcher;

    checked_search(std::shared_ptr<device> given, const search& s,
                   std::int64_t most_frontier_nonzeros)
        : on(std::move(given)),
          offsets(on, std::span(s.offsets), "test"),
          ends(on, std::span(s.ends), "test"),
          levels(on, std::span(s.levels), "test"),
          parents(on, std::span(s.parents), "test"),
          visited(on, std::span<const std::uint32_t>(s.visited()), "test"),
          x(on, std::ssize(s.levels), min_column::absent()),
          searcher(on, {offsets.data(), ends.data()}, std::ssize(s.levels),
                   most_frontier_nonzeros) {
        // The pairs descend, because they need not ascend, and have values that the launch must set
        // to zero.
        const std::vector<std::int32_t> start(s.frontier.rbegin(), s.frontier.rend());
        x.assign(start, std::vector<std::int32_t>(start.size(), 7));
    }
    persistent_levels launch(std::int32_t level, std::int64_t most_levels) {
        searcher.enqueue({levels.data(), parents.data(), visited.data(), level}, x, most_levels);
        return searcher.wait(x);
    }
};

/// Checks the contract of a launch: everything is as after as many levels of the loop; the launch
/// ended for a reason, and did not pass over an earlier one. Advances the search.
void check_persistent(checked_search& got, search& s, std::int64_t most_levels,
                      std::int64_t most_frontier_nonzeros) {
    const persistent_levels launch = got.launch(s.level, most_levels);
    REQUIRE(std::ssize(launch.levels) <= std::min(most_levels, most_persistent_levels));
    for (const level_record& level : launch.levels) {
        CHECK_FALSE(s.frontier.empty());
        CHECK_FALSE(s.wide());
        CHECK(s.frontier_nonzeros() <= most_frontier_nonzeros);
        CHECK(level.entries == std::ssize(s.frontier));
        CHECK(level.frontier_nonzeros == s.frontier_nonzeros());
        CHECK(level.seconds >= 0);
        CHECK(level.seconds < 10);
        s.reach();
    }
    CHECK(launch.entries == std::ssize(s.frontier));
    CHECK(launch.frontier_nonzeros == s.frontier_nonzeros());
    CHECK(launch.wide == s.wide());
    const bool enough = std::ssize(launch.levels) == std::min(most_levels, most_persistent_levels);
    CHECK((s.frontier.empty() || s.wide() || s.frontier_nonzeros() > most_frontier_nonzeros ||
           enough));

    CHECK(got.levels.download() == s.levels);
    CHECK(got.parents.download() == s.parents);
    CHECK(got.visited.download() == s.visited());
    CHECK(got.x.known_count() == std::ssize(s.frontier));
    const auto pairs = got.x.download_pairs();
    CHECK(pairs.indices == s.frontier);
    CHECK(pairs.values == std::vector<std::int32_t>(s.frontier.size(), 0));
}

/// Vertices with 1, 2, ... edges, each to vertices of its own and to one that all share.
csr_matrix<double> fans(std::int32_t count) {
    std::vector<testing::weighted_edge> edges;
    std::int32_t next = count + 2;
    for (std::int32_t i = 1; i <= count; ++i) {
        edges.push_back({0, i, 1});
        edges.push_back({i, count + 1, 1});
        for (std::int32_t k = 1; k < i; ++k) edges.push_back({i, next++, 1});
    }
    return testing::from_edges(next, edges);
}

csr_matrix<double> path(std::int32_t n) {
    std::vector<testing::weighted_edge> edges;
    for (std::int32_t i = 0; i + 1 < n; ++i) {
        edges.push_back({i, i + 1, 1});
        edges.push_back({i + 1, i, 1});
    }
    return testing::from_edges(n, edges);
}

/// A path of 3 vertices to a vertex with `leaves` others, and on from the last of these.
csr_matrix<double> broom(std::int32_t leaves) {
    std::vector<testing::weighted_edge> edges = {{0, 1, 1}, {1, 2, 1}};
    for (std::int32_t i = 0; i < leaves; ++i) edges.push_back({2, 3 + i, 1});
    for (std::int32_t i = 0; i < 5; ++i) edges.push_back({2 + leaves + i, 3 + leaves + i, 1});
    return testing::from_edges(leaves + 8, edges);
}

} // namespace

KRYLITH_DEVICE_TEST("persistent levels: from every level of a search to its end") {
    for (const auto& c : testing::graph_cases()) {
        CAPTURE(c.name);
        for (const auto source : c.sources) {
            CAPTURE(source);
            search begin(c.matrix, source);
            for (int skipped = 0; skipped < 4; ++skipped) {
                search s = begin;
                checked_search got(device, s, no_limit);
                check_persistent(got, s, no_limit, no_limit);
                CHECK(s.frontier.empty());
                begin.reach();
            }
        }
    }
}

KRYLITH_DEVICE_TEST(
    "persistent levels: a few levels each, one launch after the other, x in other forms") {
    for (const char* name : {"gallery:road:12", "gallery:poisson2d:30", "gallery:kron:9"}) {
        CAPTURE(name);
        search s(load_matrix<double>(name), 5);
        checked_search got(device, s, no_limit);
        for (int launch = 0; !s.frontier.empty(); ++launch) {
            // Between launches products leave x in other forms, which must be clean later.
            if (launch % 3 == 1) got.x.require(vector_form::bits);
            if (launch % 3 == 2) {
                got.x.require(vector_form::bits);
                got.x.require(vector_form::dense);
                got.x.drop(vector_form::pairs);
            }
            check_persistent(got, s, 1 + launch % 4, no_limit);
            got.x.require(vector_form::bits);
            got.x.require(vector_form::dense);
            std::vector<std::int32_t> dense(s.levels.size(), min_column::absent());
            for (const auto v : s.frontier) dense[static_cast<std::size_t>(v)] = 0;
            CHECK(got.x.download_dense() == dense);
        }
    }
}

KRYLITH_DEVICE_TEST(
    "persistent levels: vertices of 1 to 130 edges on one level share their warps") {
    search s(fans(130), 0);
    checked_search got(device, s, no_limit);
    check_persistent(got, s, no_limit, no_limit);
    CHECK(s.frontier.empty());
}

KRYLITH_DEVICE_TEST("persistent levels: levels of many thousand vertices") {
    for (const char* name : {"gallery:poisson2d:300", "gallery:kron:13"}) {
        CAPTURE(name);
        search s(load_matrix<double>(name), 45000 % 8192);
        checked_search got(device, s, no_limit);
        while (!s.frontier.empty() && !s.wide()) check_persistent(got, s, no_limit, no_limit);
    }
}

KRYLITH_DEVICE_TEST(
    "persistent levels: ends where more edges leave than it takes, and can go on later") {
    constexpr std::int64_t most_frontier_nonzeros = 60;
    search s(load_matrix<double>("gallery:poisson2d:30"), 0);
    checked_search got(device, s, most_frontier_nonzeros);
    CHECK(got.searcher.room() == most_frontier_nonzeros);
    check_persistent(got, s, no_limit, most_frontier_nonzeros);
    CHECK(s.frontier_nonzeros() > most_frontier_nonzeros);
    // No level runs, and nothing changes.
    check_persistent(got, s, no_limit, most_frontier_nonzeros);
    search from_there = s;
    checked_search rest(device, from_there, no_limit);
    check_persistent(rest, from_there, no_limit, no_limit);
    CHECK(from_there.frontier.empty());
}

KRYLITH_DEVICE_TEST(
    "persistent levels: a vertex that is too wide ends it, one that is just not doesn't") {
    for (const std::int32_t leaves : {widest_vertex, widest_vertex + 1}) {
        CAPTURE(leaves);
        search s(broom(leaves), 0);
        checked_search got(device, s, no_limit);
        check_persistent(got, s, no_limit, no_limit);
        if (leaves == widest_vertex) {
            CHECK(s.frontier.empty());
            continue;
        }
        CHECK(s.frontier == std::vector<std::int32_t>{2});
        check_persistent(got, s, no_limit, no_limit); // it ends at once
        CHECK(s.level == 3);
    }
}

KRYLITH_DEVICE_TEST(
    "persistent levels: as many levels as a launch has room for, launch after launch") {
    search s(path(static_cast<std::int32_t>(2 * most_persistent_levels + 100)), 0);
    checked_search got(device, s, 1000);
    for (const std::int64_t expected : {most_persistent_levels, most_persistent_levels}) {
        const auto before = s.level;
        check_persistent(got, s, no_limit, 1000);
        CHECK(s.level - before == expected);
    }
    check_persistent(got, s, 50, 1000);
    check_persistent(got, s, no_limit, 1000);
    CHECK(s.frontier.empty());
}

KRYLITH_DEVICE_TEST("persistent levels: refuses to begin with more vertices than it has room for") {
    search s(load_matrix<double>("gallery:poisson2d:10"), 0);
    for (int level = 0; level < 4; ++level) s.reach();
    checked_search got(device, s, 3);
    CHECK_THROWS_WITH_AS((void)got.launch(s.level, 1),
                         "persistent levels from 5 vertices: allowed are at most 3", usage_error);
}

} // namespace krylith::spmspv
