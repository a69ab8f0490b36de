// Orders by METIS: bijections, balance, few ghosts, and cases where it is not used.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/matrix/types/mocked_index_limit.hpp>
#include <krylith/partition/halo/halo_plan.hpp>
#include <krylith/partition/ordering/metis_order.hpp>

#include <krylith/tests/support/matrices.hpp>
#include <krylith/tests/support/shuffled.hpp>

namespace krylith {

using testing::from_triplets;
using testing::shuffled;
using testing::triplets;

namespace {

constexpr int part_counts[] = {1, 2, 3, 4, 7};

/// Returns order and parts after a check that they are valid.
part_order checked_part_order(const csr_matrix<double>& matrix, int parts) {
    part_order found = metis_order(matrix.row_offsets, matrix.column_indices, parts);
    CHECK(found.order.size() == matrix.rows);
    CHECK_NOTHROW(check(found.order));
    CHECK(found.rows.ranks() == parts);
    CHECK_NOTHROW(check(found.rows, matrix.rows));
    return found;
}

csr_matrix<double> moved(const csr_matrix<double>& matrix, const permutation& order) {
    triplets entries;
    for (std::size_t row = 0; row < static_cast<std::size_t>(matrix.rows); ++row)
        for (auto k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k) {
            const auto at = static_cast<std::size_t>(k);
            entries.emplace_back(order.place[row],
                                 order.place[static_cast<std::size_t>(matrix.column_indices[at])],
                                 matrix.values[at]);
        }
    return from_triplets(matrix.rows, entries);
}

std::int64_t ghosts(const csr_matrix<double>& matrix, const row_partition& rows) {
    const halo_plan plan = make_halo_plan(matrix.row_offsets, matrix.column_indices, rows);
    std::int64_t sum = 0;
    for (int part = 0; part < rows.ranks(); ++part) sum += plan.ghost_count(part);
    return sum;
}

/// The nonzeros of the largest part, over their mean.
double imbalance(const csr_matrix<double>& matrix, const part_order& found) {
    std::int64_t most = 0;
    for (int part = 0; part < found.rows.ranks(); ++part) {
        std::int64_t mine = 0;
        const row_range rows = found.rows.owned(part);
        for (std::int64_t i = rows.begin; i < rows.end; ++i) {
            const auto old =
                static_cast<std::size_t>(found.order.source[static_cast<std::size_t>(i)]);
            mine += matrix.row_offsets[old + 1] - matrix.row_offsets[old];
        }
        most = std::max(most, mine);
    }
    return static_cast<double>(most * found.rows.ranks()) / static_cast<double>(matrix.nnz());
}

} // namespace

TEST_CASE("metis: the battery, a bijection each, the same every time") {
    if (!metis_available()) return; // the refusal is tested below
    for (const auto& entry : testing::battery()) {
        if (entry.matrix.rows != entry.matrix.columns) continue;
        for (const int parts : part_counts) {
            CAPTURE(entry.name);
            CAPTURE(parts);
            const part_order first = checked_part_order(entry.matrix, parts);
            const part_order second = checked_part_order(entry.matrix, parts);
            CHECK(first.order == second.order);
            CHECK(first.rows == second.rows);
        }
    }
    for (const int parts : part_counts) {
        CHECK(checked_part_order(csr_matrix<double>{0, 0, {0}, {}, {}}, parts).order.size() == 0);
        CHECK(checked_part_order(csr_matrix<double>{3, 3, {0, 0, 0, 0}, {}, {}}, parts)
                  .order.size() == 3);
    }
}

TEST_CASE("metis: parts are within 10% of balance, with few ghosts") {
    if (!metis_available()) return;
    const auto grid = poisson2d<double>(60);
    const auto cube = poisson3d<double>(16, 17, 18);
    const auto lost = shuffled(grid, 31);
    for (const int parts : {2, 3, 4, 7}) {
        CAPTURE(parts);
        for (const auto& matrix :
             {grid, cube, lost, shuffled(cube, 32), testing::random_matrix(2000, 6, 2, 33)})
            CHECK(imbalance(matrix, checked_part_order(matrix, parts)) <= 1.1);
        const auto natural = ghosts(grid, equal_nonzeros(grid.row_offsets, parts));
        const auto unsorted = ghosts(lost, equal_nonzeros(lost.row_offsets, parts));
        const part_order found = checked_part_order(lost, parts);
        const auto after = ghosts(moved(lost, found.order), found.rows);
        CHECK(after < 2 * natural);
        CHECK(10 * after < unsorted);
        // Slabs of a square are far from best with several parts: METIS beats the natural order.
        if (parts == 7) CHECK(after < natural);
    }
}

TEST_CASE("metis: inside a part rows are in the order of reverse Cuthill-McKee") {
    if (!metis_available()) return;
    const auto lost = shuffled(poisson2d<double>(30, 41), 34);
    const auto narrow = reverse_cuthill_mckee(lost.row_offsets, lost.column_indices);
    CHECK(checked_part_order(lost, 1).order == narrow);
    const part_order found = checked_part_order(lost, 4);
    for (int part = 0; part < 4; ++part) {
        const row_range rows = found.rows.owned(part);
        CHECK(rows.size() > 0);
        for (std::int64_t i = rows.begin; i + 1 < rows.end; ++i) {
            const auto at = static_cast<std::size_t>(i);
            CHECK(narrow.place[static_cast<std::size_t>(found.order.source[at])] <
                  narrow.place[static_cast<std::size_t>(found.order.source[at + 1])]);
        }
    }
}

TEST_CASE("metis: where a few rows have most nonzeros, parts are no larger than equal shares") {
    if (!metis_available()) return;
    triplets entries; // a hub, coupled with all
    for (int i = 0; i < 1000; ++i) {
        entries.emplace_back(i, i, 2);
        if (i == 0) continue;
        entries.emplace_back(0, i, 1);
        entries.emplace_back(i, 0, 1);
    }
    const auto star = from_triplets(1000, entries);
    for (const int parts : {2, 3, 4, 7}) {
        const auto narrow = reverse_cuthill_mckee(star.row_offsets, star.column_indices);
        const auto assigned = moved(star, narrow);
        const part_order equal{narrow, equal_nonzeros(assigned.row_offsets, parts)};
        CHECK(imbalance(star, checked_part_order(star, parts)) <= 1.11 * imbalance(star, equal));
    }
}

TEST_CASE("metis: wrong uses, and a build or a machine without it") {
    const auto matrix = poisson2d<double>(8);
    const auto order = [&](int parts) {
        return metis_order(matrix.row_offsets, matrix.column_indices, parts);
    };
    if (!metis_available()) {
        CHECK_THROWS_WITH_AS((void)order(2), doctest::Contains("allowed are none and rcm"),
                             usage_error);
        return;
    }
    CHECK_THROWS_WITH_AS((void)order(0), doctest::Contains("parts is 0"), usage_error);
    CHECK_NOTHROW((void)order(2));
    const mocked_index_limit few(250); // 288 nonzeros, 224 entries of A + A' off the diagonal
    CHECK_THROWS_WITH_AS((void)order(2), doctest::Contains("the number of nonzeros is 288"),
                         input_error);
    CHECK_NOTHROW((void)order(1));
    const mocked_index_limit fewer(200);
    const csr_matrix<double> bare = [] { // upper half without diagonal: 112 nonzeros, 224 of A + A'
        triplets upper;
        const auto full = poisson2d<double>(8);
        for (int row = 0; row < 64; ++row)
            for (auto k = full.row_offsets[static_cast<std::size_t>(row)];
                 k < full.row_offsets[static_cast<std::size_t>(row) + 1]; ++k)
                if (const int column = full.column_indices[static_cast<std::size_t>(k)];
                    column > row)
                    upper.emplace_back(row, column, 1);
        return from_triplets(64, upper);
    }();
    CHECK_THROWS_WITH_AS((void)metis_order(bare.row_offsets, bare.column_indices, 2),
                         doctest::Contains("A + A' is 224"), input_error);
}

} // namespace krylith
