#include <krylith/partition/allgather/allgather_plan.hpp>

#include <krylith/device/error.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/matrix/types/mocked_index_limit.hpp>

#include <krylith/tests/partition/patterns.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <vector>

namespace krylith::partition_tests {

namespace {

/// The global column of each local index, written down entry by entry.
std::vector<std::int64_t> columns_of(const allgather_plan& plan, int rank) {
    const row_range owned = plan.columns.owned(rank);
    std::vector<std::int64_t> result;
    for (std::int64_t row = owned.begin; row < owned.end; ++row) result.push_back(row);
    if (plan.rows.owned(rank).size() == 0) return result;
    for (std::int64_t row = 0; row < plan.columns.rows(); ++row)
        if (!owned.contains(row)) result.push_back(row);
    return result;
}

} // namespace

TEST_CASE("gather plans of all patterns fulfil their contract, and columns come back") {
    for (const auto& entry : all_patterns())
        for (const int ranks : {1, 2, 3, 4, 7, 31}) {
            const pattern& a = entry.matrix;
            CAPTURE(entry.name);
            CAPTURE(ranks);
            for (const auto& partition :
                 {equal_rows(a.rows(), ranks), equal_nonzeros(a.row_offsets, ranks)}) {
                const allgather_plan plan =
                    make_allgather_plan(a.row_offsets, a.columns, partition);
                CHECK_NOTHROW(check(plan, a.row_offsets, a.columns));
                bool same = true;
                for (int rank = 0; rank < ranks; ++rank) {
                    const auto columns = columns_of(plan, rank);
                    CHECK(plan.local_size(rank) == static_cast<std::int64_t>(columns.size()));
                    auto k = static_cast<std::size_t>(
                        a.row_offsets[static_cast<std::size_t>(partition.owned(rank).begin)]);
                    for (const std::int32_t j : localized(plan, rank, a))
                        same = same && columns.at(static_cast<std::size_t>(j)) == a.columns[k++];
                }
                CHECK(same);
            }
        }
}

TEST_CASE("gather plans: what peers send lies where local indices look for it") {
    const pattern a = poisson2d(5);
    const allgather_plan plan =
        make_allgather_plan(a.row_offsets, a.columns, row_partition{{0, 9, 9, 16, 25}});
    CHECK(plan.ghost_count(0) == 16);
    CHECK(plan.ghost_count(1) == 0); // owns no rows
    CHECK(plan.position(0, 2) == 0);
    CHECK(plan.position(0, 3) == 7);
    CHECK(plan.position(2, 0) == 0);
    CHECK(plan.position(2, 3) == 9);
    CHECK(plan.position(3, 2) == 9);
    CHECK(plan.local[0].interior_rows == 4); // 4 of rows 0 to 8: 4 + 5 and so on reach beyond
    CHECK(plan.local[2].interior_rows == 0);
}

TEST_CASE("the check of gather plans names what is wrong") {
    const pattern a = poisson2d(4);
    const allgather_plan sound = make_allgather_plan(a.row_offsets, a.columns, equal_rows(16, 2));
    const auto message = [&](auto spoil) {
        allgather_plan plan = sound;
        spoil(plan);
        try {
            check(plan, a.row_offsets, a.columns);
        } catch (const usage_error& e) {
            return std::string(e.what());
        }
        return std::string();
    };
    CHECK(message([](allgather_plan&) {}).empty());
    CHECK(message([](allgather_plan& p) { p.local.pop_back(); }) ==
          "allgather_plan: has 1 ranks, the partition has 2");
    CHECK(message([](allgather_plan& p) { p.local[1].interior_rows = 5; }) ==
          "allgather_plan: rank 1: has 5 interior rows, must be 4");
    CHECK(message([](allgather_plan& p) { p.local[0].touches_ghost[0] = 1; }) ==
          "allgather_plan: rank 0: row 0 is marked 1, must be 0");
    CHECK(message([](allgather_plan& p) { p.local[0].touches_ghost.pop_back(); }) ==
          "allgather_plan: rank 0: classifies 7 rows, must be 8");
    CHECK_FALSE(message([](allgather_plan& p) { p.rows.begin[1] = 17; }).empty());
}

TEST_CASE("gather plans where rows and columns are two partitions") {
    for (const auto& entry : rectangular_patterns())
        for (const int ranks : {1, 2, 3, 4, 7, 31}) {
            const pattern& a = entry.matrix;
            CAPTURE(entry.name);
            CAPTURE(ranks);
            const row_partition rows = equal_nonzeros(a.row_offsets, ranks);
            const allgather_plan plan = make_allgather_plan(a.row_offsets, a.columns, rows,
                                                            equal_rows(entry.columns, ranks));
            CHECK_NOTHROW(check(plan, a.row_offsets, a.columns));
            bool same = true;
            for (int rank = 0; rank < ranks; ++rank) {
                const auto columns = columns_of(plan, rank);
                CHECK(plan.local_size(rank) == static_cast<std::int64_t>(columns.size()));
                auto k = static_cast<std::size_t>(
                    a.row_offsets[static_cast<std::size_t>(rows.owned(rank).begin)]);
                for (const std::int32_t j : localized(plan, rank, a))
                    same = same && columns.at(static_cast<std::size_t>(j)) == a.columns[k++];
            }
            CHECK(same);
        }
    const pattern a = interpolation(17, 2);
    allgather_plan plan =
        make_allgather_plan(a.row_offsets, a.columns, equal_rows(17, 3), equal_rows(9, 3));
    plan.columns = equal_rows(9, 2);
    CHECK_THROWS_WITH_AS(check(plan, a.row_offsets, a.columns),
                         "allgather_plan: the partition of columns has 2 ranks, that of rows 3, "
                         "they must have the same number",
                         usage_error);
    plan.columns = {{0, 2, 6, 9}}; // row 5 needs column 3, which is of another rank in both; row 4
                                   // needs column 2
    CHECK_THROWS_WITH_AS(check(plan, a.row_offsets, a.columns),
                         doctest::Contains("row 3 is marked 0, must be 1"), usage_error);
    CHECK_THROWS_AS(
        (void)make_allgather_plan(a.row_offsets, a.columns, equal_rows(17, 3), equal_rows(9, 2)),
        usage_error);
}

TEST_CASE("gather plans refuse what they can't plan") {
    const pattern a = poisson2d(4);
    CHECK_THROWS_AS((void)make_allgather_plan(a.row_offsets, a.columns, equal_rows(15, 2)),
                    usage_error);
    CHECK_THROWS_AS(
        (void)make_allgather_plan(a.row_offsets, a.columns, row_partition{{0, 9, 8, 16}}),
        usage_error);
    const allgather_plan plan = make_allgather_plan(a.row_offsets, a.columns, equal_rows(16, 2));
    std::vector<std::int32_t> few(3);
    CHECK_THROWS_WITH_AS(localize_columns(plan, 1, a.row_offsets, a.columns, few),
                         doctest::Contains("local_columns has 3 entries, must have"), usage_error);
    CHECK_THROWS_AS((void)plan.ghost_count(2), usage_error);
    const mocked_index_limit limit(15); // all entries lie on each rank
    CHECK_THROWS_AS((void)make_allgather_plan(a.row_offsets, a.columns, equal_rows(16, 2)),
                    input_error);
}

} // namespace krylith::partition_tests
