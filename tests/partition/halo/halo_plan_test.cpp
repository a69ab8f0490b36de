#include <krylith/partition/halo/halo_plan.hpp>

#include <krylith/device/error.hpp>

#include <krylith/tests/partition/patterns.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <utility>

namespace krylith::partition_tests {

namespace {

std::size_t index(std::int64_t i) {
    return static_cast<std::size_t>(i);
}

// The plan from its definition, with sets and without a line of code in common.
halo_plan oracle(const pattern& a, const row_partition& of_rows, const row_partition& partition) {
    std::vector<local_indices> local;
    std::vector<boundary_rows> boundary(index(partition.ranks()));
    for (int rank = 0; rank < partition.ranks(); ++rank) {
        boundary_rows& mine = boundary[index(rank)];
        const row_range rows = of_rows.owned(rank);
        const row_range owned = partition.owned(rank);
        std::set<std::int64_t> ghosts;
        for (std::int64_t row = rows.begin; row < rows.end; ++row) {
            bool touches = false;
            for (std::int64_t k = a.row_offsets[index(row)]; k < a.row_offsets[index(row + 1)];
                 ++k) {
                const std::int64_t column = a.columns[index(k)];
                if (column < owned.begin || column >= owned.end) {
                    ghosts.insert(column);
                    touches = true;
                }
            }
            mine.touches_ghost.push_back(touches ? 1 : 0);
            mine.interior_rows += touches ? 0 : 1;
        }
        local.emplace_back(owned, std::vector<std::int64_t>(ghosts.begin(), ghosts.end()));
    }
    return {of_rows, {partition, local}, boundary};
}

// Multiplies with all weights different, in integers so that the order of addition doesn't matter.
std::vector<std::int64_t> weighted_product(const pattern& a, const std::vector<std::int64_t>& x) {
    std::vector<std::int64_t> y;
    for (std::int64_t row = 0; row < a.rows(); ++row) {
        std::int64_t sum = 0;
        for (std::int64_t k = a.row_offsets[index(row)]; k < a.row_offsets[index(row + 1)]; ++k) {
            sum += (k + 1) * x[index(a.columns[index(k)])];
        }
        y.push_back(sum);
    }
    return y;
}

// Multiplies as the ranks do it: send, receive, multiply with local columns.
std::vector<std::int64_t> weighted_product(const halo_plan& plan, const pattern& a,
                                           const std::vector<std::int64_t>& x) {
    const int ranks = plan.columns.ranks();
    std::vector<std::vector<std::int64_t>> local(index(ranks));
    for (int rank = 0; rank < ranks; ++rank) {
        const row_range owned = plan.columns.owned(rank);
        std::vector<std::int64_t>& mine = local[index(rank)];
        mine.assign(index(plan.local_size(rank)), -1000003);
        std::copy(x.begin() + owned.begin, x.begin() + owned.end,
                  mine.begin() + plan.columns.local(rank).first_owned());
    }
    for (int rank = 0; rank < ranks; ++rank) {
        for (const neighbour_ghosts& from : plan.columns.neighbours(rank)) {
            const local_indices& sender = plan.columns.local(from.owner);
            for (std::int64_t k = from.first; k < from.first + from.count; ++k) {
                local[index(rank)].at(index(k)) = local[index(from.owner)].at(
                    index(sender.local(plan.columns.local(rank).global(k))));
            }
        }
    }
    std::vector<std::int64_t> y;
    for (int rank = 0; rank < ranks; ++rank) {
        const row_range rows = plan.rows.owned(rank);
        const auto columns = localized(plan, rank, a);
        const std::int64_t first = a.row_offsets[index(rows.begin)];
        for (std::int64_t row = rows.begin; row < rows.end; ++row) {
            std::int64_t sum = 0;
            for (std::int64_t k = a.row_offsets[index(row)]; k < a.row_offsets[index(row + 1)];
                 ++k) {
                sum += (k + 1) * local[index(rank)].at(index(columns[index(k - first)]));
            }
            y.push_back(sum);
        }
    }
    return y;
}

} // namespace

TEST_CASE("halo_plan: a 4 x 4 grid on three parts, by hand") {
    const pattern a = poisson2d(4);
    const halo_plan plan = make_halo_plan(a.row_offsets, a.columns, row_partition{{0, 4, 10, 16}});
    CHECK_NOTHROW(check(plan, a.row_offsets, a.columns));

    const index_map& columns = plan.columns;
    CHECK(columns.local(0).ghosts() == std::vector<std::int64_t>{4, 5, 6, 7});
    CHECK(columns.neighbours(0) == std::vector<neighbour_ghosts>{{1, 4, 4}});
    CHECK(plan.boundary[0].interior_rows == 0);

    // Rows 4 to 9: the second line and half of the third.
    CHECK(columns.local(1).ghosts() == std::vector<std::int64_t>{0, 1, 2, 3, 10, 11, 12, 13});
    CHECK(columns.neighbours(1) == std::vector<neighbour_ghosts>{{0, 0, 4}, {2, 10, 4}});
    CHECK(plan.boundary[1].touches_ghost == std::vector<std::uint8_t>{1, 1, 1, 1, 1, 1});

    // Rows 10 to 15: row 10 touches 9 and 6, row 11 touches 7, rows 12 and 13 touch 8 and 9.
    CHECK(columns.local(2).ghosts() == std::vector<std::int64_t>{6, 7, 8, 9});
    CHECK(columns.neighbours(2) == std::vector<neighbour_ghosts>{{1, 0, 4}});
    CHECK(plan.boundary[2].touches_ghost == std::vector<std::uint8_t>{1, 1, 1, 1, 0, 0});
    CHECK(plan.boundary[2].interior_rows == 2);

    CHECK(plan.ghost_count(1) == 8);
    CHECK(plan.send_count(1) == 8);
    CHECK(plan.send_count(2) == 4);
    CHECK(plan.local_size(1) == 14);

    // Row 10 references 6, 9, 10, 11 and 14.
    const auto local = localized(plan, 2, a);
    CHECK(std::vector<std::int32_t>(local.begin(), local.begin() + 5) ==
          std::vector<std::int32_t>{0, 3, 4, 5, 8});
}

TEST_CASE("halo_plan: every pattern and partition against the definition, and a product") {
    for (const named_pattern& entry : all_patterns()) {
        const pattern& a = entry.matrix;
        std::vector<std::int64_t> x;
        for (std::int64_t i = 0; i < a.rows(); ++i) {
            x.push_back(i * 7919 % 1009 + 1);
        }
        const auto y = weighted_product(a, x);
        for (const int ranks : {1, 2, 3, 4, 7, 50}) {
            for (const row_partition& partition :
                 {equal_rows(a.rows(), ranks), equal_nonzeros(a.row_offsets, ranks),
                  equal_nonzeros(a.row_offsets, ranks, 32)}) {
                CAPTURE(entry.name);
                CAPTURE(ranks);
                const halo_plan plan = make_halo_plan(a.row_offsets, a.columns, partition);
                const halo_plan whole =
                    make_allgather_plan(a.row_offsets, a.columns, partition, partition);
                CHECK(plan == oracle(a, partition, partition));
                CHECK(whole.boundary == plan.boundary);
                for (const halo_plan* one : {&plan, &whole}) {
                    CHECK_NOTHROW(check(*one, a.row_offsets, a.columns));
                    CHECK(weighted_product(*one, a, x) == y);
                    std::int64_t sent = 0;
                    std::int64_t received = 0;
                    for (int rank = 0; rank < ranks; ++rank) {
                        sent += one->send_count(rank);
                        received += one->ghost_count(rank);
                    }
                    CHECK(sent == received);
                    CHECK((ranks > 1 || received == 0));
                }
            }
        }
    }
}

TEST_CASE("halo_plan: rows and columns of different partitions against the definition") {
    for (const rectangular_pattern& entry : rectangular_patterns()) {
        const pattern& a = entry.matrix;
        std::vector<std::int64_t> x;
        for (std::int64_t i = 0; i < entry.columns; ++i) {
            x.push_back(i * 7919 % 1009 + 1);
        }
        const auto y = weighted_product(a, x);
        for (const int ranks : {1, 2, 3, 4, 7, 50}) {
            const std::int64_t n = entry.columns;
            // The last has all columns on the last rank.
            row_partition last{std::vector<std::int64_t>(index(ranks), 0)};
            last.begin.push_back(n);
            for (const row_partition& columns :
                 {equal_rows(n, ranks), equal_rows(n, ranks, 32), last}) {
                CAPTURE(entry.name);
                CAPTURE(ranks);
                const row_partition rows = equal_nonzeros(a.row_offsets, ranks);
                const halo_plan plan = make_halo_plan(a.row_offsets, a.columns, rows, columns);
                const halo_plan whole =
                    make_allgather_plan(a.row_offsets, a.columns, rows, columns);
                CHECK(plan == oracle(a, rows, columns));
                CHECK(whole.boundary == plan.boundary);
                for (const halo_plan* one : {&plan, &whole}) {
                    CHECK_NOTHROW(check(*one, a.row_offsets, a.columns));
                    CHECK(weighted_product(*one, a, x) == y);
                }
            }
        }
    }
}

TEST_CASE("halo_plan: interpolation from 41 points to 81 on three parts, by hand") {
    const pattern p = interpolation(81, 2);
    const row_partition fine = equal_rows(81, 3);
    const row_partition coarse = equal_rows(41, 3);
    const halo_plan plan = make_halo_plan(p.row_offsets, p.columns, fine, coarse);
    // Rank 0 has the fine points 0 to 26, which need the coarse 0 to 13, and owns 0 to 12.
    CHECK(plan.columns.local(0).ghosts() == std::vector<std::int64_t>{13});
    CHECK(plan.columns.neighbours(0) == std::vector<neighbour_ghosts>{{1, 13, 1}});
    CHECK(plan.send_count(1) == 1);
    CHECK(plan.boundary[0].interior_rows == 25); // all but 25 and 26
    // Rank 1 has the fine points 27 to 53, which need 13 to 27, and owns 13 to 26.
    CHECK(plan.columns.local(1).ghosts() == std::vector<std::int64_t>{27});
    CHECK(plan.boundary[1].interior_rows == 26); // all but 53
    // Rank 2 has the fine points 54 to 80, which need 27 to 40, and owns these.
    CHECK(plan.columns.local(2).ghosts().empty());
    CHECK(plan.local_size(2) == 14);
}

TEST_CASE("halo_plan: large enough for every loop to run on several threads") {
    const pattern a = random_pattern(300000, 4, 5);
    const halo_plan plan = make_halo_plan(a.row_offsets, a.columns, equal_rows(a.rows(), 2));
    REQUIRE(plan.ghost_count(0) > 65536);
    CHECK_NOTHROW(check(plan, a.row_offsets, a.columns));
    CHECK(make_halo_plan(a.row_offsets, a.columns, plan.columns.owners()) == plan);
    std::vector<std::int64_t> x;
    for (std::int64_t i = 0; i < a.rows(); ++i) {
        x.push_back(i * 7919 % 1009 + 1);
    }
    const auto y = weighted_product(a, x);
    CHECK(weighted_product(plan, a, x) == y);
    const halo_plan whole = make_allgather_plan(a.row_offsets, a.columns, plan.rows, plan.rows);
    CHECK_NOTHROW(check(whole, a.row_offsets, a.columns));
    CHECK(weighted_product(whole, a, x) == y);
}

TEST_CASE("halo_plan: a dense column makes one entry a ghost of all, a dense row all of one") {
    const pattern a = arrow(40, 39, 0);
    const halo_plan plan = make_halo_plan(a.row_offsets, a.columns, equal_rows(40, 4));
    CHECK(plan.ghost_count(0) == 0);
    CHECK(plan.send_count(0) == 12); // one to each of ranks 1 and 2, ten to rank 3
    CHECK(plan.columns.local(1).ghosts() == std::vector<std::int64_t>{0});
    CHECK(plan.boundary[1].interior_rows == 0);
    CHECK(plan.ghost_count(3) == 30);
}

TEST_CASE("make_halo_plan refuses what it can't plan") {
    const pattern a = poisson2d(4);
    const auto plan_of = [](const pattern& b, row_partition partition) {
        static_cast<void>(make_halo_plan(b.row_offsets, b.columns, std::move(partition)));
    };
    CHECK_THROWS_AS(plan_of(a, row_partition{}), usage_error);
    CHECK_THROWS_AS(plan_of(a, row_partition{{0, 9, 5, 16}}), usage_error);
    CHECK_THROWS_WITH_AS(plan_of(a, equal_rows(17, 2)),
                         "make_halo_plan: row_offsets has 17 entries, must have one more than the "
                         "partition has rows, 18",
                         input_error);
    CHECK_THROWS_WITH_AS((void)make_halo_plan(a.row_offsets, a.columns, equal_rows(16, 1),
                                              row_partition{{0, 2147483648}}),
                         doctest::Contains("rank 0 owns 2147483648 columns"), input_error);

    SUBCASE("column too large, in the parallel loop of a rank that isn't the first") {
        pattern bad = random_pattern(9000, 6, 3);
        bad.columns[index(bad.row_offsets[6000])] = 9000;
        bad.columns[index(bad.row_offsets[8500])] = 9001;
        const std::string position = std::to_string(bad.row_offsets[6000]);
        const std::string message = "make_halo_plan: row 6000 has column 9000 at position " +
                                    position + ", must be 0 or more and below 9000";
        REQUIRE(bad.row_offsets[6001] > bad.row_offsets[6000]);
        CHECK_THROWS_WITH_AS(plan_of(bad, equal_rows(9000, 2)), message.c_str(), input_error);
        CHECK_THROWS_WITH_AS(plan_of(bad, equal_rows(9000, 1)), message.c_str(), input_error);
    }
    SUBCASE("negative column") {
        pattern bad = a;
        bad.columns[1] = -1;
        CHECK_THROWS_WITH_AS(plan_of(bad, equal_rows(16, 2)),
                             "make_halo_plan: row 0 has column -1 at position 1, must be 0 or more "
                             "and below 16",
                             input_error);
    }
    SUBCASE("descending offsets") {
        pattern bad = a;
        bad.row_offsets[9] = 2;
        CHECK_THROWS_WITH_AS(plan_of(bad, equal_rows(16, 2)),
                             "make_halo_plan: row 8 has the offsets 32 and 2, which must ascend "
                             "from 0 to 64",
                             input_error);
    }
    SUBCASE("an offset past the columns") {
        pattern bad = a;
        bad.row_offsets[9] = 65;
        CHECK_THROWS_AS(plan_of(bad, equal_rows(16, 2)), input_error);
    }
    SUBCASE("a negative offset") {
        pattern bad = a;
        bad.row_offsets[1] = -3;
        CHECK_THROWS_AS(plan_of(bad, equal_rows(16, 2)), input_error);
    }
    SUBCASE("ends that disagree with the columns") {
        pattern bad = a;
        bad.columns.pop_back();
        CHECK_THROWS_WITH_AS(plan_of(bad, equal_rows(16, 2)),
                             "make_halo_plan: row_offsets runs from 0 to 64, must run from 0 to "
                             "the number of columns given, 63",
                             input_error);
        bad = a;
        bad.row_offsets[0] = 1;
        CHECK_THROWS_AS(plan_of(bad, equal_rows(16, 2)), input_error);
    }
}

TEST_CASE("make_halo_plan refuses two partitions that don't belong together") {
    const pattern a = random_pattern(20, 9, 4, 3);
    CHECK_THROWS_WITH_AS(
        (void)make_halo_plan(a.row_offsets, a.columns, equal_rows(20, 2), equal_rows(9, 3)),
        "make_halo_plan: the partition of columns has 3 ranks, that of rows 2, they must have the "
        "same number",
        usage_error);
    CHECK_THROWS_AS(
        (void)make_halo_plan(a.row_offsets, a.columns, equal_rows(20, 2), row_partition{{0, 9, 8}}),
        usage_error);
    CHECK_THROWS_WITH_AS(
        (void)make_halo_plan(a.row_offsets, a.columns, equal_rows(20, 2), equal_rows(7, 2)),
        doctest::Contains("must be 0 or more and below 7"), input_error);
    CHECK_THROWS_WITH_AS(
        (void)make_halo_plan(a.row_offsets, a.columns, equal_rows(9, 2), equal_rows(9, 2)),
        doctest::Contains("must have one more than the partition has rows, 10"), input_error);
}

TEST_CASE("halo_plan: sizes of parts that don't exist are refused") {
    const pattern a = poisson2d(4);
    const halo_plan plan = make_halo_plan(a.row_offsets, a.columns, equal_rows(16, 2));
    CHECK_THROWS_AS(static_cast<void>(plan.ghost_count(-1)), usage_error);
    CHECK_THROWS_AS(static_cast<void>(plan.ghost_count(2)), usage_error);
    CHECK_THROWS_AS(static_cast<void>(plan.send_count(2)), usage_error);
    CHECK_THROWS_AS(static_cast<void>(plan.local_size(2)), usage_error);
}

TEST_CASE("localize_columns refuses sizes and patterns that are not the plan's") {
    const pattern a = poisson2d(4);
    const halo_plan plan = make_halo_plan(a.row_offsets, a.columns, row_partition{{0, 8, 16}});
    std::vector<std::int32_t> local(32);
    CHECK_NOTHROW(localize_columns(plan, 1, a.row_offsets, a.columns, local));
    CHECK_THROWS_AS(localize_columns(plan, 2, a.row_offsets, a.columns, local), usage_error);
    CHECK_THROWS_WITH_AS(
        localize_columns(plan, 1, a.row_offsets, a.columns, std::span(local).first(31)),
        "localize_columns: local_columns has 31 entries, must have 32, the nonzeros of rank 1",
        usage_error);
    CHECK_THROWS_AS(localize_columns(plan, 1, std::span(a.row_offsets).first(16), a.columns, local),
                    usage_error);
    CHECK_THROWS_AS(localize_columns(plan, 1, a.row_offsets, std::span(a.columns).first(63), local),
                    usage_error);
    pattern other = a;
    other.columns[40] = 3; // owned by rank 0, but no ghost of rank 1
    other.columns[50] = -7;
    CHECK_THROWS_WITH_AS(localize_columns(plan, 1, other.row_offsets, other.columns, local),
                         "localize_columns: column 3 at position 40 is neither owned by rank 1 nor "
                         "one of its ghosts: the plan is for another pattern",
                         input_error);
    other = a;
    other.columns[50] = 2147483647;
    CHECK_THROWS_AS(localize_columns(plan, 1, other.row_offsets, other.columns, local),
                    input_error);
}

} // namespace krylith::partition_tests
