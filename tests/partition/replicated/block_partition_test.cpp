// 2NZ, LRA and LRA+RC as values: the paper's example, properties of each, findings of the check.
#include <krylith/partition/replicated/block_partition.hpp>

#include <krylith/device/error.hpp>
#include <krylith/partition/replicated/long_block.hpp>

#include <krylith/tests/partition/patterns.hpp>
#include <krylith/tests/support/patterns.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

namespace krylith::partition_tests {

using testing::offsets_of;

namespace {

constexpr block_stage first = block_stage::first;
constexpr block_stage second = block_stage::second;

/// The offsets of n rows of one entry, one of them longer.
std::vector<std::int64_t> with_long_row(std::int64_t rows, std::int64_t which) {
    std::vector<std::int64_t> lengths(static_cast<std::size_t>(rows), 1);
    lengths[static_cast<std::size_t>(which)] = 5;
    return offsets_of(lengths);
}

block_partition lra(std::span<const std::int64_t> offsets, int ranks,
                    const row_fractions& fractions, std::int64_t alignment = 1) {
    return long_rows_last(offsets, find_longest_row(offsets), ranks, fractions, alignment);
}

std::int64_t nonzeros(const std::vector<std::int64_t>& offsets, row_range rows) {
    return offsets[static_cast<std::size_t>(rows.end)] -
           offsets[static_cast<std::size_t>(rows.begin)];
}

void check_aligned(const block_partition& p, std::int64_t alignment) {
    const auto allowed = [&](std::int64_t row) { return row % alignment == 0 || row == p.rows; };
    for (const auto& rank : p.local)
        for (const auto& range : rank.ranges) {
            CHECK(allowed(range.rows.begin));
            CHECK(allowed(range.rows.end));
        }
    CHECK(allowed(p.redundant.begin));
    CHECK(allowed(p.redundant.end));
}

/// Checks that no rank computes more of a stage than its fraction and the longest aligned group of
/// rows.
void check_balance(const block_partition& p, const std::vector<std::int64_t>& offsets,
                   std::int64_t alignment) {
    std::int64_t largest = 0;
    for (std::int64_t row = 0; row < p.rows; row += alignment)
        largest = std::max(largest, nonzeros(offsets, {row, std::min(row + alignment, p.rows)}));
    for (const block_stage stage : {first, second}) {
        std::vector<std::int64_t> by_part;
        std::int64_t all = 0;
        for (const auto& rank : p.local) {
            by_part.push_back(0);
            for (const auto& range : rank.ranges)
                if (range.stage == stage) by_part.back() += nonzeros(offsets, range.rows);
            all += by_part.back();
        }
        for (const auto mine : by_part)
            CHECK(mine <= all / static_cast<std::int64_t>(p.local.size()) + 1 + largest);
    }
}

} // namespace

TEST_CASE("block_partition: the example of Gao, Ji and Wang") {
    const auto offsets = offsets_of({5, 3, 2, 2, 2, 2, 1});
    const auto nz = one_block(equal_nonzeros(offsets, 2));
    check(nz, 7);
    CHECK(nz.local[0] == local_blocks{{{{0, 2}, first}}, {}});
    CHECK(nz.local[1] == local_blocks{{{{2, 7}, first}}, {}});
    const auto two = two_blocks(offsets, 2);
    check(two, 7);
    CHECK(two.local[0] == local_blocks{{{{0, 1}, first}, {{1, 2}, second}}, {}});
    CHECK(two.local[1] == local_blocks{{{{2, 4}, first}, {{4, 7}, second}}, {}});
    const auto short_first = lra(offsets, 2, {0.3, 0});
    check(short_first, 7);
    CHECK(short_first.redundant.size() == 0);
    CHECK(short_first.local[0].ranges.back() == staged_rows{{0, 1}, second});
    CHECK(short_first.local[1].ranges.back() == staged_rows{{1, 2}, second});
    CHECK(short_first.local[0].ranges.front().rows.begin == 2);
    CHECK(short_first.local[1].ranges.front().rows.end == 7);
    const auto rc = lra(offsets, 2, {0.3, 0.1});
    check(rc, 7);
    CHECK(rc.redundant == row_range{6, 7});
    CHECK(rc.local[0].ranges == std::vector<staged_rows>{{{2, 4}, first}, {{0, 1}, second}});
    CHECK(rc.local[1].ranges == std::vector<staged_rows>{{{4, 6}, first}, {{1, 2}, second}});
    CHECK(rc.computed(0) == 4);
    CHECK(rc.local[0].counted.size() + rc.local[1].counted.size() == 1);
}

TEST_CASE("block_partition: every way to deal, on every pattern, parts, shares and alignment") {
    for (const auto& a :
         {pattern{}, poisson2d(1), poisson2d(9), random_pattern(1, 3, 5), random_pattern(3, 9, 6),
          random_pattern(100, 0, 7), random_pattern(257, 12, 8)})
        for (const int ranks : {1, 2, 3, 4, 7, 16})
            for (const std::int64_t alignment : {1, 8, 32}) {
                CAPTURE(a.rows());
                CAPTURE(ranks);
                CAPTURE(alignment);
                const auto two = two_blocks(a.row_offsets, ranks, alignment);
                check(two, a.rows());
                check_aligned(two, alignment);
                for (const row_fractions fractions :
                     {row_fractions{0, 0}, row_fractions{0.5, 0}, row_fractions{0.3, 0.1},
                      row_fractions{0, 0.4}, row_fractions{1, 0}, row_fractions{0, 1},
                      row_fractions{0.6, 0.4}}) {
                    const auto p = lra(a.row_offsets, ranks, fractions, alignment);
                    check(p, a.rows());
                    check_aligned(p, alignment);
                    check_balance(p, a.row_offsets, alignment);
                    for (int k = 0; k < ranks; ++k) CHECK(p.computed(k) >= p.redundant.size());
                }
            }
}

TEST_CASE("block_partition: the long block holds the longest row, wherever that is") {
    for (const std::int64_t rows : {1, 2, 5, 64, 100, 1000})
        for (const std::int64_t alignment : {1, 32})
            for (std::int64_t which = 0; which < rows; which += 1 + rows / 13) {
                const auto offsets = with_long_row(rows, which);
                CHECK(find_longest_row(offsets).row == which);
                const std::int64_t size = rows * 3 / 10;
                if (size < alignment) continue;
                const row_range block = find_long_block(rows, which, size, alignment);
                CHECK(block.contains(which));
                if (which < size / alignment * alignment) CHECK(block.begin == 0);
                CHECK(block.size() >= size / alignment * alignment);
                CHECK(block.size() < size + 2 * alignment);
                for (const auto& p : {lra(offsets, 3, {0.3, 0}, alignment),
                                      lra(offsets, 3, {0.3, 0.2}, alignment)}) {
                    check(p, rows);
                    for (const auto& rank : p.local)
                        for (const auto& range : rank.ranges)
                            CHECK((range.stage == first || block.begin <= range.rows.begin));
                }
            }
}

TEST_CASE("block_partition: redundant rows are those with fewer nonzeros of both ends") {
    // The long block comes first: rows next to it are 2 long, the last ones 1, then the reverse.
    const auto light_end = offsets_of({9, 9, 2, 2, 2, 1, 1, 1, 1, 1});
    CHECK(find_redundant_block(light_end, {0, 2}, 3, 1) == row_range{7, 10});
    const auto light_start = offsets_of({9, 9, 1, 1, 1, 2, 2, 2, 2, 2});
    CHECK(find_redundant_block(light_start, {0, 2}, 3, 1) == row_range{2, 5});
    // The long block comes last, the other way round.
    const auto last = offsets_of({1, 1, 1, 2, 2, 2, 9, 9});
    CHECK(find_redundant_block(last, {6, 8}, 2, 1) == row_range{0, 2});
    CHECK(find_redundant_block(last, {6, 8}, 100, 1) == row_range{0, 6});
    CHECK(find_redundant_block(last, {0, 8}, 2, 1).size() == 0);
}

TEST_CASE("block_partition: the usual shares") {
    CHECK(usual_fractions(5, 4, false, true).long_rows == 0.5);
    CHECK(usual_fractions(5, 2, true, true).redundant == 0.15);
    CHECK(usual_fractions(5, 2, true, false).redundant == 0.25);
    CHECK(usual_fractions(7.9, 4, true, true).long_rows == 0.35);
    CHECK(usual_fractions(8, 4, false, true).long_rows == 0.35);
    CHECK(usual_fractions(27, 4, true, true).redundant == 0.025);
}

TEST_CASE("block_partition: shares that are none, and parts, are refused") {
    const auto offsets = offsets_of({1, 2});
    for (const row_fractions fractions : {row_fractions{-0.1, 0}, row_fractions{1.1, 0},
                                          row_fractions{0, NAN}, row_fractions{0.6, 0.5}})
        CHECK_THROWS_AS((void)lra(offsets, 2, fractions), usage_error);
    CHECK_THROWS_AS((void)lra(offsets, 0, {0.5, 0}), usage_error);
    CHECK_THROWS_AS((void)two_blocks(offsets, 0), usage_error);
    CHECK_THROWS_AS((void)lra({}, 2, {0.5, 0}), usage_error);
    CHECK_THROWS_AS((void)lra(std::vector<std::int64_t>{3, 1}, 2, {0.5, 0}), input_error);
}

TEST_CASE("block_partition: a longest row of another matrix is refused") {
    const auto offsets = offsets_of({1, 2, 2});
    (void)long_rows_last(offsets, {1, 2}, 2, {0.5, 0});
    const auto refused = [&](longest_row longest, const char* words) {
        CHECK_THROWS_WITH_AS((void)long_rows_last(offsets, longest, 2, {0.5, 0}), words,
                             usage_error);
    };
    refused({3, 2}, "long_rows_last: the longest row is row 3 with 2 nonzeros, must be one of 3 "
                    "rows");
    refused({-1, 2}, "long_rows_last: the longest row is row -1 with 2 nonzeros, must be one of 3 "
                     "rows");
    refused({0, 2}, "long_rows_last: the longest row is row 0 with 2 nonzeros, but that row has 1: "
                    "must be of the same matrix");
}

TEST_CASE("block_partition: the check finds each fault") {
    const block_partition good{
        6, {{{{{0, 2}, first}, {{4, 5}, second}}, {5, 5}}, {{{{2, 4}, first}}, {5, 6}}}, {5, 6}};
    check(good, 6);
    const auto broken = [&](const char* words, auto change) {
        block_partition bad = good;
        change(bad);
        CHECK_THROWS_WITH_AS(check(bad, 6), doctest::Contains(words), usage_error);
    };
    broken("0 ranks", [](auto& p) { p.local.clear(); });
    broken("of 7 rows", [](auto& p) { p.rows = 7; });
    broken("redundant rows", [](auto& p) { p.redundant = {5, 7}; });
    broken("computed by no rank", [](auto& p) { p.local[1].ranges[0].rows.begin = 3; });
    broken("computed twice", [](auto& p) { p.local[1].ranges[0].rows.begin = 1; });
    broken("computed twice", [](auto& p) { p.local[1].ranges.push_back({{5, 6}, second}); });
    broken("must not be empty", [](auto& p) { p.local[1].ranges[0].rows = {2, 2}; });
    broken("after rows of the second", [](auto& p) {
        p.local[0].ranges[0].stage = second;
        p.local[0].ranges[1].stage = first;
    });
    broken("counted by no rank", [](auto& p) { p.local[1].counted = {5, 5}; });
    broken("counted twice", [](auto& p) { p.local[0].counted = {5, 6}; });
    broken("at most 3", [](auto& p) {
        p.local[0].ranges = {{{0, 1}, first}, {{1, 2}, first}, {{4, 5}, first}, {{2, 3}, first}};
    });
}

} // namespace krylith::partition_tests
