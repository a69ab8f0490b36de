// Piece plans: every entry is multiplied once, where it is held, and every result finds its row.
#include <algorithm>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/device/error.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/partition/nonzero/nonzero_split_plan.hpp>

#include <krylith/tests/partition/nonzero/range_matrices.hpp>
#include <krylith/tests/partition/patterns.hpp>

namespace krylith::partition_tests {

using testing::random_numbers;

namespace {

pattern square_pattern(const test_matrix& m) {
    const test_arrays arrays(m.entries);
    return {test_arrays::offsets(arrays.row_indices, std::max(m.rows, m.columns)),
            arrays.column_indices};
}

/// Each entry's part and each row's owner by chance.
nonzero_assignment assign_by_chance(const pattern& p, std::int64_t columns, int ranks,
                                    std::uint64_t seed) {
    random_numbers random(seed);
    nonzero_assignment assigned{equal_rows(p.rows(), ranks), equal_rows(columns, ranks), {}};
    for (std::size_t k = 0; k < p.columns.size(); ++k)
        assigned.holder.push_back(static_cast<std::uint8_t>(random.below(ranks)));
    return assigned;
}

} // namespace

TEST_CASE("piece plans of all shapes fulfil their contract") {
    for (int number = 0; number < 60; ++number)
        for (int ranks = 1; ranks <= 8; ++ranks) {
            const test_matrix m = random_matrix(number);
            INFO(m.shape << ", " << ranks << " parts");
            const pattern p = square_pattern(m);
            const auto cut = equal_entries(static_cast<std::int64_t>(p.columns.size()), ranks);
            const nonzero_assignment assignments[] = {
                assign_by_rows(p.row_offsets, p.rows(), cut),
                assign_by_columns(p.row_offsets, p.columns, p.rows(), cut),
                assign_by_chance(p, p.rows(), ranks, static_cast<std::uint64_t>(number))};
            for (const nonzero_assignment& assigned : assignments) {
                const nonzero_split_plan plan =
                    make_nonzero_split_plan(p.row_offsets, p.columns, assigned);
                CHECK_NOTHROW(check(plan, p.row_offsets, p.columns, assigned));
            }
        }
}

TEST_CASE("piece plans of rectangular matrices: rows and columns are two partitions") {
    for (int number = 0; number < 60; ++number)
        for (int ranks = 1; ranks <= 8; ++ranks) {
            const test_matrix m = random_matrix(number);
            INFO(m.shape << ", " << m.rows << " x " << m.columns << ", " << ranks << " parts");
            const test_arrays arrays(m.entries);
            const pattern p{test_arrays::offsets(arrays.row_indices, m.rows),
                            arrays.column_indices};
            const auto cut = equal_entries(static_cast<std::int64_t>(p.columns.size()), ranks);
            nonzero_assignment moved = assign_by_rows(p.row_offsets, m.columns, cut);
            CHECK((m.rows == m.columns || moved.columns == equal_rows(m.columns, ranks)));
            moved.rows = equal_rows(m.rows, ranks); // whose rows are whose is another question
            const nonzero_assignment assignments[] = {
                assign_by_rows(p.row_offsets, m.columns, cut),
                assign_by_columns(p.row_offsets, p.columns, m.columns, cut), moved,
                assign_by_chance(p, m.columns, ranks, static_cast<std::uint64_t>(number))};
            for (const nonzero_assignment& assigned : assignments) {
                CHECK(assigned.rows.rows() == m.rows);
                CHECK(assigned.columns.rows() == m.columns);
                const nonzero_split_plan plan =
                    make_nonzero_split_plan(p.row_offsets, p.columns, assigned);
                CHECK_NOTHROW(check(plan, p.row_offsets, p.columns, assigned));
            }
        }
}

TEST_CASE("piece plans: by rows a part has one foreign row, by columns one ghost, at most") {
    for (int number = 0; number < 60; ++number) {
        const pattern p = square_pattern(random_matrix(number));
        const auto cut = equal_entries(static_cast<std::int64_t>(p.columns.size()), 5);
        const auto by_rows = make_nonzero_split_plan(p.row_offsets, p.columns,
                                                     assign_by_rows(p.row_offsets, p.rows(), cut));
        const auto by_columns = make_nonzero_split_plan(
            p.row_offsets, p.columns, assign_by_columns(p.row_offsets, p.columns, p.rows(), cut));
        for (int k = 0; k < 5; ++k) {
            const auto rank = as_size(k);
            CHECK(by_rows.local[rank].remote.rows() <= 1);
            CHECK(by_columns.halo.ghost_count(k) <= 1);
            for (const nonzero_split_plan* plan : {&by_rows, &by_columns})
                CHECK(plan->local[rank].own.columns.size() +
                          plan->local[rank].remote.columns.size() ==
                      as_size(cut.begin[rank + 1] - cut.begin[rank]));
        }
    }
}

TEST_CASE("piece plans: the check names what is wrong") {
    const pattern p{{0, 4, 5, 6}, {0, 1, 2, 0, 1, 0}};
    const auto cut = equal_entries(6, 3);
    const nonzero_assignment assigned = assign_by_rows(p.row_offsets, p.rows(), cut);
    CHECK(assigned.rows.begin == std::vector<std::int64_t>{0, 1, 1, 3});
    CHECK(assigned.holder == std::vector<std::uint8_t>{0, 0, 1, 1, 2, 2});
    const nonzero_split_plan good = make_nonzero_split_plan(p.row_offsets, p.columns, assigned);
    CHECK(good.local[1].remote_rows == std::vector<std::int64_t>{0});
    const auto refused = [&](const auto& spoil, const char* words) {
        nonzero_split_plan bad = good;
        spoil(bad);
        CHECK_THROWS_WITH_AS(check(bad, p.row_offsets, p.columns, assigned),
                             doctest::Contains(words), usage_error);
    };
    refused([](nonzero_split_plan& q) { q.local[1].sends[0].position = 1; }, "slot");
    refused([](nonzero_split_plan& q) { q.local[1].sends.clear(); }, "not all sent");
    refused([](nonzero_split_plan& q) { q.local[0].slot.clear(); }, "slots");
    refused([](nonzero_split_plan& q) { q.local[0].own.source[1] = 2; }, "entry 1");
    refused([](nonzero_split_plan& q) { q.local[2].own.columns[0] = 2; }, "local column 2");
    refused([](nonzero_split_plan& q) { q.local[1].remote_rows[0] = 1; }, "remote rows");
    refused([](nonzero_split_plan& q) { q.halo.columns = index_map(equal_rows(3, 3)); },
            "the partition is another one");
    refused([](nonzero_split_plan& q) { ++q.halo.boundary[1].interior_rows; }, "exchange of x");
    refused(
        [](nonzero_split_plan& q) { // part 0 needs column 1 alone
            const index_map& sound = q.halo.columns;
            q.halo.columns = {sound.owners(),
                              {{sound.owned(0), {1, 2}}, sound.local(1), sound.local(2)}};
        },
        "exchange of x");
    nonzero_assignment broken = assigned;
    broken.holder[2] = 3;
    CHECK_THROWS_WITH_AS((void)make_nonzero_split_plan(p.row_offsets, p.columns, broken),
                         doctest::Contains("entry 2 is held by part 3"), usage_error);
    broken.holder.pop_back();
    CHECK_THROWS_AS((void)make_nonzero_split_plan(p.row_offsets, p.columns, broken), usage_error);
    CHECK_THROWS_AS((void)assign_by_rows(p.row_offsets, p.rows(), equal_entries(6, 256)),
                    usage_error);
}

} // namespace krylith::partition_tests
