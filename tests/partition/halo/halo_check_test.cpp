// The checker of halo plans sees every defect, and says which: each clause gets one planted.
#include <krylith/partition/halo/halo_plan.hpp>

#include <krylith/device/error.hpp>

#include <krylith/tests/partition/patterns.hpp>

#include <doctest/doctest.h>

#include <functional>
#include <utility>

namespace krylith::partition_tests {

namespace {

struct halo_defect {
    const char* message; // a substring of what the checker says
    std::function<void(halo_plan&)> plant;
};

// Defects of the plan of a 4 x 4 grid on four ranks, a line of the grid each. Rank 1 owns rows 4 to
// 7, its ghosts are 0 to 3 from rank 0 and 8 to 11 from rank 2.
const std::vector<halo_defect> defects{
    {"begin[4] is 15, must be the number of rows, 16",
     [](halo_plan& plan) { plan.rows.begin.back() = 15; }},
    {"describes 3 ranks, must describe the partition's 4",
     [](halo_plan& plan) { plan.local.pop_back(); }},

    {"rank 1: ghost -1, must be 0 or more and below 16",
     [](halo_plan& plan) { plan.local[1].ghosts.front() = -1; }},
    {"rank 1: ghost 16, must be 0 or more and below 16",
     [](halo_plan& plan) { plan.local[1].ghosts.back() = 16; }},
    {"rank 1: ghost 4 is owned by the rank itself",
     [](halo_plan& plan) { plan.local[1].ghosts[4] = 4; }},
    {"rank 1: ghost 1 after 2, ghosts must ascend",
     [](halo_plan& plan) { std::swap(plan.local[1].ghosts[1], plan.local[1].ghosts[2]); }},
    {"rank 1: ghost 1 after 1, ghosts must ascend",
     [](halo_plan& plan) { plan.local[1].ghosts[2] = 1; }},

    {"rank 1: a receive names peer 4, must be another rank",
     [](halo_plan& plan) { plan.local[1].receives[1].peer = 4; }},
    {"rank 1: a receive names peer -1, must be another rank",
     [](halo_plan& plan) { plan.local[1].receives[0].peer = -1; }},
    {"rank 1: a receive names peer 1, must be another rank",
     [](halo_plan& plan) { plan.local[1].receives[1].peer = 1; }},
    {"rank 1: a receive names peer 0 after 2, peers must ascend",
     [](halo_plan& plan) {
         plan.local[1].ghosts = {8, 9, 10, 11};
         plan.local[1].receives = {{2, 0, 4}, {0, 4, 0}};
     }},
    {"rank 1: the receive from 0 takes 4 ghosts from position 1, must start at 0",
     [](halo_plan& plan) { plan.local[1].receives[0].first = 1; }},
    {"rank 1: the receive from 0 takes 0 ghosts from position 0",
     [](halo_plan& plan) { plan.local[1].receives[0].count = 0; }},
    {"rank 1: the receive from 2 takes 5 ghosts from position 4, must start at 4 and take 1 to 4",
     [](halo_plan& plan) { plan.local[1].receives[1].count = 5; }},
    {"rank 1: ghost 8 is received from 3, its owner is 2",
     [](halo_plan& plan) { plan.local[1].receives[1].peer = 3; }},
    {"rank 1: ghost 8 is received from 0, its owner is 2",
     [](halo_plan& plan) { plan.local[1].receives[0].count = 5; }},
    {"rank 1: receives cover 4 ghosts, must cover 8",
     [](halo_plan& plan) { plan.local[1].receives.pop_back(); }},

    {"rank 1: touches_ghost has 3 entries, must have one for each of 4 rows",
     [](halo_plan& plan) { plan.local[1].touches_ghost.pop_back(); }},
    {"rank 1: row 7 references column 11, which is neither owned nor a ghost",
     [](halo_plan& plan) {
         plan.local[1].ghosts.pop_back();
         plan.local[1].receives[1].count = 3;
     }},
    {"rank 1: row 4 references column 8, which is neither owned nor a ghost",
     [](halo_plan& plan) {
         plan.local[1].ghosts.erase(plan.local[1].ghosts.begin() + 4);
         plan.local[1].receives[1].count = 3;
     }},
    {"rank 1: touches_ghost of row 5 is 0, must be 1",
     [](halo_plan& plan) { plan.local[1].touches_ghost[1] = 0; }},
    {"rank 1: touches_ghost of row 5 is 2, must be 1",
     [](halo_plan& plan) { plan.local[1].touches_ghost[1] = 2; }},
    {"rank 1: ghost 12 is referenced by no row",
     [](halo_plan& plan) {
         plan.local[1].ghosts.push_back(12);
         plan.local[1].receives.push_back({3, 8, 1});
         plan.local[3].sends.insert(plan.local[3].sends.begin(), {1, {0}, 8});
     }},
    {"rank 1: interior_rows is 1, must be 0",
     [](halo_plan& plan) { plan.local[1].interior_rows = 1; }},

    {"rank 1: a send names peer 4, must be another rank",
     [](halo_plan& plan) { plan.local[1].sends[1].peer = 4; }},
    {"rank 1: a send names peer 1, must be another rank",
     [](halo_plan& plan) { plan.local[1].sends[1].peer = 1; }},
    {"rank 1: a send names peer 0 after 2, peers must ascend",
     [](halo_plan& plan) { std::swap(plan.local[1].sends[0], plan.local[1].sends[1]); }},
    {"rank 1: a send names peer 2 after 2, peers must ascend",
     [](halo_plan& plan) { plan.local[1].sends.push_back(plan.local[1].sends.back()); }},
    {"rank 1: sends to 3, which receives nothing from it",
     [](halo_plan& plan) {
         plan.local[1].sends.push_back({3, {0}, 0});
     }},
    {"rank 1: sends 4 rows to 2 at position 1, which receives 4 at 0",
     [](halo_plan& plan) { plan.local[1].sends[1].position = 1; }},
    {"rank 1: sends 3 rows to 2 at position 0, which receives 4 at 0",
     [](halo_plan& plan) { plan.local[1].sends[1].rows.pop_back(); }},
    {"rank 1: sends row 5 to 2, which expects 4",
     [](halo_plan& plan) {
         std::swap(plan.local[1].sends[1].rows[0], plan.local[1].sends[1].rows[1]);
     }},
    {"rank 2: sends row 12 to 1, which expects 11",
     [](halo_plan& plan) { plan.local[2].sends[0].rows[3] = 4; }},
    {"rank 2: receives from 1, which sends nothing to it",
     [](halo_plan& plan) { plan.local[1].sends.pop_back(); }},
};

} // namespace

TEST_CASE("halo_plan: the checker rejects each planted defect and names it") {
    const pattern a = poisson2d(4);
    const halo_plan sound = make_halo_plan(a.row_offsets, a.columns, equal_rows(16, 4));
    REQUIRE_NOTHROW(check(sound, a.row_offsets, a.columns));
    for (const halo_defect& planted : defects) {
        CAPTURE(planted.message);
        halo_plan plan = sound;
        planted.plant(plan);
        CHECK_THROWS_WITH_AS(check(plan, a.row_offsets, a.columns),
                             doctest::Contains(planted.message), usage_error);
    }
}

// The plan of interpolation from 9 coarse points to 17 fine ones on three ranks, which own the rows
// 0 to 5, 6 to 11, 12 to 16 and the columns 0 to 2, 3 to 5, 6 to 8. Row 5 needs the columns 2 and
// 3, row 11 the columns 5 and 6.
TEST_CASE(
    "halo_plan: the checker rejects planted defects where rows and columns are two partitions") {
    const pattern a = interpolation(17, 2);
    const halo_plan sound =
        make_halo_plan(a.row_offsets, a.columns, {{0, 6, 12, 17}}, {{0, 3, 6, 9}});
    CHECK_NOTHROW(check(sound, a.row_offsets, a.columns));
    REQUIRE(sound.local[0].ghosts == std::vector<std::int64_t>{3});
    const std::vector<halo_defect> planted{
        {"begin[3] is 9, must be the number of rows, 17",
         [](halo_plan& plan) { std::swap(plan.rows, plan.columns); }},
        {"the partition of columns has 2 ranks, that of rows 3",
         [](halo_plan& plan) { plan.columns = equal_rows(9, 2); }},
        {"begin[2] is 5, must not be below begin[1], which is 6",
         [](halo_plan& plan) {
             plan.columns = {{0, 6, 5, 9}};
         }},
        {"ghost 3 is owned by the rank itself",
         [](halo_plan& plan) {
             plan.columns = {{0, 4, 6, 9}};
         }},
        {"touches_ghost has 3 entries, must have one for each of 6 rows",
         [](halo_plan& plan) { plan.local[0].touches_ghost.resize(3); }},
        {"ghost 9, must be 0 or more and below 9",
         [](halo_plan& plan) { plan.local[0].ghosts.push_back(9); }},
        {"touches_ghost of row 5 is 0, must be 1",
         [](halo_plan& plan) { plan.local[0].touches_ghost[5] = 0; }},
        {"rank 1: sends row 9 to 0, which expects 3",
         [](halo_plan& plan) { plan.local[1].sends[0].rows[0] = 6; }},
    };
    for (const halo_defect& d : planted) {
        CAPTURE(d.message);
        halo_plan plan = sound;
        d.plant(plan);
        CHECK_THROWS_WITH_AS(check(plan, a.row_offsets, a.columns), doctest::Contains(d.message),
                             usage_error);
    }
}

TEST_CASE("halo_plan: the checker rejects a row that is called a boundary row but is none") {
    const pattern a = poisson2d(4);
    halo_plan plan = make_halo_plan(a.row_offsets, a.columns, equal_rows(16, 2));
    plan.local[0].touches_ghost[0] = 1;
    CHECK_THROWS_WITH_AS(check(plan, a.row_offsets, a.columns),
                         doctest::Contains("touches_ghost of row 0 is 1, must be 0"), usage_error);
}

TEST_CASE("halo_plan: the checker rejects offsets of another size") {
    const pattern a = poisson2d(4);
    const halo_plan plan = make_halo_plan(a.row_offsets, a.columns, equal_rows(16, 2));
    CHECK_THROWS_AS(check(plan, {}, a.columns), usage_error);
    CHECK_THROWS_AS(check(plan, std::span(a.row_offsets).first(16), a.columns), usage_error);
}

TEST_CASE("halo_plan: the checker sees a plan that is sound, but for another pattern") {
    const pattern a = poisson2d(4);
    const halo_plan plan = make_halo_plan(a.row_offsets, a.columns, equal_rows(16, 4));
    const pattern empty = without_nonzeros(16);
    CHECK_THROWS_AS(check(plan, empty.row_offsets, empty.columns), usage_error);
    const pattern denser = arrow(16, 3, 3);
    CHECK_THROWS_AS(check(plan, denser.row_offsets, denser.columns), usage_error);
}

} // namespace krylith::partition_tests
