// Piece plans: every entry is multiplied once, where it is held, and every result finds its row.
#include <algorithm>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/device/error.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/partition/nonzero/nonzero_split_plan.hpp>

#include <krylith/tests/partition/nonzero/range_matrices.hpp>

using namespace krylith;
using krylith::partition_tests::random_matrix;
using krylith::partition_tests::test_arrays;
using krylith::partition_tests::test_matrix;
using krylith::testing::random_numbers;

namespace {

struct pattern {
    std::vector<std::int64_t> offsets;
    std::vector<std::int32_t> columns;
};

pattern square_pattern(const test_matrix& m) {
    const test_arrays arrays(m.entries);
    return {test_arrays::offsets(arrays.row_indices, std::max(m.rows, m.columns)),
            arrays.column_indices};
}

/// Each entry's part and each row's owner by chance.
dealt_entries deal_by_chance(const pattern& p, int parts, std::uint64_t seed) {
    random_numbers random(seed);
    const auto rows = static_cast<std::int64_t>(p.offsets.size()) - 1;
    dealt_entries dealt{equal_rows(rows, parts), {}};
    for (std::size_t k = 0; k < p.columns.size(); ++k)
        dealt.holder.push_back(static_cast<std::uint8_t>(random.below(parts)));
    return dealt;
}

} // namespace

TEST_CASE("piece plans of all shapes fulfil their contract") {
    for (int number = 0; number < 60; ++number)
        for (int parts = 1; parts <= 8; ++parts) {
            const test_matrix m = random_matrix(number);
            INFO(m.shape << ", " << parts << " parts");
            const pattern p = square_pattern(m);
            const auto cut = equal_entries(static_cast<std::int64_t>(p.columns.size()), parts);
            const dealt_entries dealings[] = {
                deal_by_rows(p.offsets, cut), deal_by_columns(p.offsets, p.columns, cut),
                deal_by_chance(p, parts, static_cast<std::uint64_t>(number))};
            for (const dealt_entries& dealt : dealings) {
                const piece_plan plan = make_piece_plan(p.offsets, p.columns, dealt);
                CHECK_NOTHROW(check(plan, p.offsets, p.columns, dealt));
            }
        }
}

TEST_CASE("piece plans: by rows a part has one foreign row, by columns one ghost, at most") {
    for (int number = 0; number < 60; ++number) {
        const pattern p = square_pattern(random_matrix(number));
        const auto cut = equal_entries(static_cast<std::int64_t>(p.columns.size()), 5);
        const auto by_rows = make_piece_plan(p.offsets, p.columns, deal_by_rows(p.offsets, cut));
        const auto by_columns =
            make_piece_plan(p.offsets, p.columns, deal_by_columns(p.offsets, p.columns, cut));
        for (int k = 0; k < 5; ++k) {
            const auto part = as_size(k);
            CHECK(by_rows.parts[part].foreign.rows() <= 1);
            CHECK(by_columns.halo.ghost_count(k) <= 1);
            for (const piece_plan* plan : {&by_rows, &by_columns})
                CHECK(plan->parts[part].own.columns.size() +
                          plan->parts[part].foreign.columns.size() ==
                      as_size(cut.begin[part + 1] - cut.begin[part]));
        }
    }
}

TEST_CASE("piece plans: the check names what is wrong") {
    const pattern p{{0, 4, 5, 6}, {0, 1, 2, 0, 1, 0}};
    const auto cut = equal_entries(6, 3);
    const dealt_entries dealt = deal_by_rows(p.offsets, cut);
    CHECK(dealt.rows.begin == std::vector<std::int64_t>{0, 1, 1, 3});
    CHECK(dealt.holder == std::vector<std::uint8_t>{0, 0, 1, 1, 2, 2});
    const piece_plan good = make_piece_plan(p.offsets, p.columns, dealt);
    CHECK(good.parts[1].foreign_rows == std::vector<std::int64_t>{0});
    const auto refused = [&](const auto& spoil, const char* words) {
        piece_plan bad = good;
        spoil(bad);
        CHECK_THROWS_WITH_AS(check(bad, p.offsets, p.columns, dealt), doctest::Contains(words),
                             usage_error);
    };
    refused([](piece_plan& q) { q.parts[1].sends[0].position = 1; }, "slot");
    refused([](piece_plan& q) { q.parts[1].sends.clear(); }, "not all sent");
    refused([](piece_plan& q) { q.parts[0].slot.clear(); }, "slots");
    refused([](piece_plan& q) { q.parts[0].own.source[1] = 2; }, "entry 1");
    refused([](piece_plan& q) { q.parts[2].own.columns[0] = 1; }, "local column 1");
    refused([](piece_plan& q) { q.parts[1].foreign_rows[0] = 1; }, "foreign rows");
    refused([](piece_plan& q) { q.halo.parts[1].receives.pop_back(); }, "exchange of x");
    dealt_entries broken = dealt;
    broken.holder[2] = 3;
    CHECK_THROWS_WITH_AS((void)make_piece_plan(p.offsets, p.columns, broken),
                         doctest::Contains("entry 2 is held by part 3"), usage_error);
    broken.holder.pop_back();
    CHECK_THROWS_AS((void)make_piece_plan(p.offsets, p.columns, broken), usage_error);
    CHECK_THROWS_AS((void)deal_by_rows(p.offsets, equal_entries(6, 256)), usage_error);
}
