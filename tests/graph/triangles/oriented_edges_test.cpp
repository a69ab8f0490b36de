// The direction of each edge: followed by hand, and the bound on the longest list.
#include <krylith/graph/triangles/oriented_edges.hpp>

#include <algorithm>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/matrix/load.hpp>
#include <krylith/tests/support/graphs.hpp>

namespace krylith {

TEST_CASE("oriented edges: from fewer edges to more, each once, sorted, without loops") {
    // 1 has three edges, 2 and 3 two, 0 one; the loop of 0 makes it two more.
    const auto a = testing::from_edges(
        4, {{1, 0, 1}, {1, 2, 1}, {2, 1, 1}, {3, 1, 1}, {3, 1, 1}, {2, 3, 1}, {0, 0, 1}});
    const oriented_edges edges = orient(a.row_offsets, a.column_indices, false);
    // Degrees with the loop, reverses and parallel edges: 3, 5, 3, 3.
    CHECK(edges.offsets == std::vector<std::int64_t>{0, 1, 1, 3, 4});
    CHECK(edges.sources == std::vector<std::int32_t>{0, 2, 2, 3});
    CHECK(edges.targets == std::vector<std::int32_t>{1, 1, 3, 1});
}

TEST_CASE("oriented edges: what is known to go both ways comes to the same") {
    const auto a = load_matrix<double>("gallery:kron:10");
    const oriented_edges edges = orient(a.row_offsets, a.column_indices, true);
    CHECK(edges == orient(a.row_offsets, a.column_indices, false));
    std::int64_t longest = 0;
    for (std::size_t v = 0; v + 1 < edges.offsets.size(); ++v)
        longest = std::max(longest, edges.offsets[v + 1] - edges.offsets[v]);
    CHECK(longest * longest <= 2 * std::ssize(edges.targets));
    CHECK(longest > 1);
}

} // namespace krylith
