// Plans in which ranks have all columns. halo_plan_test.cpp multiplies by those of all patterns.
#include <krylith/partition/halo/halo_plan.hpp>

#include <krylith/device/error.hpp>
#include <krylith/matrix/types/mocked_index_limit.hpp>

#include <krylith/tests/partition/patterns.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace krylith::partition_tests {

TEST_CASE("allgather plans: ranks with rows have all columns, under their global numbers") {
    const pattern a = poisson2d(5);
    const row_partition rows{{0, 9, 9, 16, 25}};
    const halo_plan plan = make_allgather_plan(a.row_offsets, a.columns, rows, rows);
    CHECK(plan.columns.is_whole());
    CHECK(plan.ghost_count(0) == 16);
    CHECK(plan.local_size(0) == 25);
    CHECK(plan.send_count(0) == 18); // to two others
    CHECK(plan.columns.neighbours(2) == std::vector<neighbour_ghosts>{{0, 0, 9}, {3, 16, 9}});
    const auto local = localized(plan, 2, a);
    CHECK(local == std::vector<std::int32_t>(a.columns.begin() + a.row_offsets[9],
                                             a.columns.begin() + a.row_offsets[16]));
    CHECK(plan.boundary[0].interior_rows == 4); // rows 4 to 8 reach beyond row 8
    CHECK(plan.boundary[2].interior_rows == 0);

    // A rank without rows needs nothing, also where it owns columns.
    CHECK(plan.local_size(1) == 0);
    const index_map columns = all_columns({{0, 2, 2, 4}}, equal_rows(9, 3));
    CHECK(columns ==
          make_allgather_plan(without_nonzeros(4).row_offsets, {}, {{0, 2, 2, 4}}, equal_rows(9, 3))
              .columns);
    CHECK(columns.local(0) == local_indices::all({0, 3}, 9));
    CHECK(columns.local(1) == local_indices({3, 6}));
    CHECK(columns.local(2) == local_indices::all({6, 9}, 9));
    CHECK_FALSE(all_columns(equal_rows(4, 1), equal_rows(9, 1)).any_ghosts());
}

TEST_CASE("allgather plans: the checker names what is wrong") {
    const pattern a = poisson2d(4);
    const row_partition rows{{0, 8, 8, 16}};
    const halo_plan sound = make_allgather_plan(a.row_offsets, a.columns, rows, rows);
    CHECK_NOTHROW(check(sound, a.row_offsets, a.columns));
    const auto refused = [&](const auto& spoil, const char* words) {
        halo_plan plan = sound;
        spoil(plan);
        CHECK_THROWS_WITH_AS(check(plan, a.row_offsets, a.columns), doctest::Contains(words),
                             usage_error);
    };
    const local_indices& none = sound.columns.local(1);
    refused(
        [&](halo_plan& p) {
            p.columns = {rows, {{{0, 8}}, none, p.columns.local(2)}};
        },
        "rank 0: has 0 ghosts and no list of them, must have 8");
    refused(
        [&](halo_plan& p) {
            p.columns = {rows,
                         {p.columns.local(0), local_indices::all({8, 8}, 16), p.columns.local(2)}};
        },
        "rank 1: has 16 ghosts and no list of them, must have 0");
    refused([](halo_plan& p) { p.boundary[2].interior_rows = 5; },
            "rank 2: interior_rows is 5, must be 4");
    refused([](halo_plan& p) { p.boundary[0].touches_ghost[0] = 1; },
            "rank 0: touches_ghost of row 0 is 1, must be 0");
    refused([](halo_plan& p) { p.boundary[0].touches_ghost[7] = 0; },
            "rank 0: touches_ghost of row 7 is 0, must be 1");
    // Row 3 references column 7, now of another rank.
    refused(
        [](halo_plan& p) {
            p.columns = all_columns(p.rows, {{0, 7, 8, 16}});
        },
        "rank 0: touches_ghost of row 3 is 0, must be 1");
}

TEST_CASE("allgather plans refuse what they can't plan") {
    const pattern a = poisson2d(4);
    const row_partition halves = equal_rows(16, 2);
    const auto plan_of = [&](row_partition rows, row_partition columns) {
        return make_allgather_plan(a.row_offsets, a.columns, std::move(rows), std::move(columns));
    };
    CHECK_THROWS_AS((void)plan_of(equal_rows(15, 2), halves), input_error);
    CHECK_THROWS_AS((void)plan_of({{0, 9, 8, 16}}, halves), usage_error);
    CHECK_THROWS_AS((void)plan_of(halves, {{0, 9, 8, 16}}), usage_error);
    CHECK_THROWS_AS((void)plan_of(halves, equal_rows(16, 3)), usage_error);
    CHECK_THROWS_WITH_AS((void)plan_of(halves, equal_rows(15, 2)),
                         doctest::Contains("row 11 has column 15"), input_error);

    const halo_plan plan = plan_of(halves, halves);
    std::vector<std::int32_t> few(3);
    CHECK_THROWS_WITH_AS(localize_columns(plan, 1, a.row_offsets, a.columns, few),
                         doctest::Contains("local_columns has 3 entries, must have"), usage_error);
    pattern other = a;
    for (const std::int32_t beyond : {-1, 16}) {
        other.columns[40] = beyond;
        CHECK_THROWS_WITH_AS((void)localized(plan, 1, other),
                             doctest::Contains("is neither owned by rank 1"), input_error);
    }
    const mocked_index_limit limit(15); // all 16 entries lie on each rank
    CHECK_THROWS_AS((void)plan_of(halves, halves), input_error);
}

} // namespace krylith::partition_tests
