// The checker of halo plans sees every defect, and says which: each clause gets one planted.
#include <krylith/partition/halo/halo_plan.hpp>

#include <krylith/device/error.hpp>

#include <krylith/tests/partition/patterns.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace krylith::partition_tests {

namespace {

struct halo_defect {
    const char* message; // a substring of what the checker says
    std::function<void(halo_plan&)> plant;
};

// Gives a rank other ghosts. Those that no rank can have are refused by the index map.
auto with_ghosts(int rank, std::function<void(std::vector<std::int64_t>&)> change) {
    return [rank, change = std::move(change)](halo_plan& plan) {
        std::vector<local_indices> local;
        for (int k = 0; k < plan.columns.ranks(); ++k) local.push_back(plan.columns.local(k));
        local_indices& spoilt = local[static_cast<std::size_t>(rank)];
        std::vector<std::int64_t> ghosts = spoilt.ghosts();
        change(ghosts);
        spoilt = {spoilt.owned(), ghosts};
        plan.columns = {plan.columns.owners(), local};
    };
}

// Defects of the plan of a 4 x 4 grid on four ranks, a line of the grid each. Rank 1 owns rows 4 to
// 7, its ghosts are 0 to 3 from rank 0 and 8 to 11 from rank 2.
const std::vector<halo_defect> defects{
    {"begin[4] is 15, must be the number of rows, 16",
     [](halo_plan& plan) { plan.rows.begin.back() = 15; }},
    {"must have ranks + 1 with at least 1 rank", [](halo_plan& plan) { plan.columns = {}; }},
    {"describes 3 ranks, must describe the partition's 4",
     [](halo_plan& plan) { plan.boundary.pop_back(); }},

    {"rank 1: ghost -1, must be 0 or more and below 16",
     with_ghosts(1, [](auto& ghosts) { ghosts.front() = -1; })},
    {"rank 1: ghost 16, must be 0 or more and below 16",
     with_ghosts(1, [](auto& ghosts) { ghosts.back() = 16; })},
    {"rank 1: ghost 4 is owned by the rank itself",
     with_ghosts(1, [](auto& ghosts) { ghosts[4] = 4; })},
    {"rank 1: ghost 1 after 2, ghosts must ascend",
     with_ghosts(1, [](auto& ghosts) { std::swap(ghosts[1], ghosts[2]); })},
    {"rank 1: ghost 1 after 1, ghosts must ascend",
     with_ghosts(1, [](auto& ghosts) { ghosts[2] = 1; })},

    {"rank 1: touches_ghost has 3 entries, must have one for each of 4 rows",
     [](halo_plan& plan) { plan.boundary[1].touches_ghost.pop_back(); }},
    {"rank 1: row 7 references column 11, which is neither owned nor a ghost",
     with_ghosts(1, [](auto& ghosts) { ghosts.pop_back(); })},
    {"rank 1: row 4 references column 8, which is neither owned nor a ghost",
     with_ghosts(1, [](auto& ghosts) { ghosts.erase(ghosts.begin() + 4); })},
    {"rank 1: touches_ghost of row 5 is 0, must be 1",
     [](halo_plan& plan) { plan.boundary[1].touches_ghost[1] = 0; }},
    {"rank 1: touches_ghost of row 5 is 2, must be 1",
     [](halo_plan& plan) { plan.boundary[1].touches_ghost[1] = 2; }},
    {"rank 1: ghost 12 is referenced by no row",
     with_ghosts(1, [](auto& ghosts) { ghosts.push_back(12); })},
    {"rank 1: interior_rows is 1, must be 0",
     [](halo_plan& plan) { plan.boundary[1].interior_rows = 1; }},
};

} // namespace

TEST_CASE("halo_plan: the checker rejects each planted defect and names it") {
    const pattern a = poisson2d(4);
    const halo_plan sound = make_halo_plan(a.row_offsets, a.columns, equal_rows(16, 4));
    REQUIRE_NOTHROW(check(sound, a.row_offsets, a.columns));
    for (const halo_defect& planted : defects) {
        CAPTURE(planted.message);
        halo_plan plan = sound;
        CHECK_THROWS_WITH_AS((planted.plant(plan), check(plan, a.row_offsets, a.columns)),
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
    REQUIRE(sound.columns.local(0).ghosts() == std::vector<std::int64_t>{3});
    const std::vector<halo_defect> planted{
        {"begin[3] is 9, must be the number of rows, 17",
         [](halo_plan& plan) { plan.rows = plan.columns.owners(); }},
        {"the partition of columns has 2 ranks, that of rows 3",
         [](halo_plan& plan) { plan.columns = index_map(equal_rows(9, 2)); }},
        {"row 5 references column 3, which is neither owned nor a ghost",
         [](halo_plan& plan) { plan.columns = index_map(plan.columns.owners()); }},
        {"touches_ghost has 3 entries, must have one for each of 6 rows",
         [](halo_plan& plan) { plan.boundary[0].touches_ghost.resize(3); }},
        {"ghost 9, must be 0 or more and below 9",
         with_ghosts(0, [](auto& ghosts) { ghosts.push_back(9); })},
        {"touches_ghost of row 5 is 0, must be 1",
         [](halo_plan& plan) { plan.boundary[0].touches_ghost[5] = 0; }},
    };
    for (const halo_defect& d : planted) {
        CAPTURE(d.message);
        halo_plan plan = sound;
        CHECK_THROWS_WITH_AS((d.plant(plan), check(plan, a.row_offsets, a.columns)),
                             doctest::Contains(d.message), usage_error);
    }
}

TEST_CASE("halo_plan: the checker rejects a row that is called a boundary row but is none") {
    const pattern a = poisson2d(4);
    halo_plan plan = make_halo_plan(a.row_offsets, a.columns, equal_rows(16, 2));
    plan.boundary[0].touches_ghost[0] = 1;
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
