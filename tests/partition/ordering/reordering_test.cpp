// Reverse Cuthill-McKee: bijections, bandwidths, and the graph that it works on.
#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/partition/halo/halo_plan.hpp>
#include <krylith/partition/ordering/reordering.hpp>
#include <krylith/partition/ordering/symmetric_graph.hpp>

#include <krylith/tests/support/matrices.hpp>
#include <krylith/tests/support/shuffled.hpp>

namespace krylith {

using testing::from_triplets;
using testing::shuffled;
using testing::triplets;

namespace {

permutation checked_cuthill_mckee(const csr_matrix<double>& matrix) {
    const auto order = reverse_cuthill_mckee(matrix.row_offsets, matrix.column_indices);
    CHECK(order.size() == matrix.rows);
    CHECK_NOTHROW(check(order));
    return order;
}

} // namespace

TEST_CASE("reordering: the battery, a bijection each, the same every time") {
    for (const auto& entry : testing::battery()) {
        if (entry.matrix.rows != entry.matrix.columns) continue;
        CAPTURE(entry.name);
        CHECK(checked_cuthill_mckee(entry.matrix) == checked_cuthill_mckee(entry.matrix));
    }
    CHECK(checked_cuthill_mckee(csr_matrix<double>{0, 0, {0}, {}, {}}).size() == 0);
    CHECK(checked_cuthill_mckee(csr_matrix<double>{3, 3, {0, 0, 0, 0}, {}, {}}).size() ==
          3); // no entries
}

TEST_CASE("reordering: a shuffled grid is about as narrow as the natural order") {
    const auto grid = poisson2d<double>(30, 41);
    const auto natural = bandwidth(grid.row_offsets, grid.column_indices);
    CHECK(natural == 30);
    const auto lost = shuffled(grid, 11);
    CHECK(bandwidth(lost.row_offsets, lost.column_indices) > 20 * natural);
    CHECK(bandwidth(lost.row_offsets, lost.column_indices, checked_cuthill_mckee(lost)) <=
          natural + 2);
    const auto cube = shuffled(poisson3d<double>(9, 10, 11), 12);
    CHECK(bandwidth(cube.row_offsets, cube.column_indices, checked_cuthill_mckee(cube)) <=
          2 * 9 * 10);
}

TEST_CASE("reordering: a shuffled path and a shuffled cycle, in several components") {
    const auto path = shuffled(testing::laplace_1d(500), 13);
    CHECK(bandwidth(path.row_offsets, path.column_indices, checked_cuthill_mckee(path)) == 1);
    triplets entries; // three cycles of 50 and ten loners
    for (int c = 0; c < 3; ++c)
        for (int i = 0; i < 50; ++i) entries.emplace_back(50 * c + i, 50 * c + (i + 1) % 50, 1);
    for (int i = 150; i < 160; ++i) entries.emplace_back(i, i, 1);
    const auto cycles = shuffled(from_triplets(160, entries), 14);
    CHECK(bandwidth(cycles.row_offsets, cycles.column_indices, checked_cuthill_mckee(cycles)) == 2);
}

TEST_CASE("reordering: one-sided entries and duplicates count as edges") {
    const std::vector<std::int64_t> offsets{0, 3, 4, 4, 5};
    const std::vector<std::int32_t> columns{2, 2, 0, 0, 1};
    const auto graph = make_symmetric_graph(offsets, columns);
    CHECK(graph.offsets == std::vector<std::int64_t>{0, 2, 4, 5, 6});
    CHECK(graph.neighbours == std::vector<std::int32_t>{1, 2, 0, 3, 0, 1});
    CHECK(bandwidth(offsets, columns, reverse_cuthill_mckee(offsets, columns)) == 1);
}

TEST_CASE("reordering: what is no permutation is refused") {
    CHECK_NOTHROW(check(permutation{{1, 0}, {1, 0}}));
    CHECK_THROWS_AS(check(permutation{{1, 1}, {1, 0}}), usage_error);
    CHECK_THROWS_AS(check(permutation{{2, 0}, {1, 0}}), usage_error);
    CHECK_THROWS_AS(check(permutation{{-1, 0}, {1, 0}}), usage_error);
    CHECK_THROWS_AS(check(permutation{{0}, {0, 1}}), usage_error);
    CHECK_THROWS_WITH_AS(check(permutation{{0, 2, 1}, {0, 1, 2}}),
                         doctest::Contains("new place 1 comes from old place 2"), usage_error);
}

} // namespace krylith
