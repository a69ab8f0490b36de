// The places of the entries of a CSR block: SELL slices and CSR tiles. Pure arithmetic.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/sparse/pattern/csr_tiles.hpp>
#include <krylith/sparse/pattern/sell_layout.hpp>
#include <krylith/sparse/storage/boundary_order.hpp>

#include <krylith/tests/support/patterns.hpp>
#include <krylith/tests/support/random.hpp>

namespace krylith {

using testing::offsets_of;

namespace {

/// Lengths of rows, each with a difficulty of its own.
std::vector<std::vector<std::int64_t>> layout_length_cases() {
    testing::random_numbers random(51);
    std::vector<std::int64_t> mixed(2500);
    for (auto& length : mixed) length = random.below(40) * random.below(2);
    std::vector<std::int64_t> heavy(1500, 3);
    heavy[700] = 5000;
    return {{},
            {0},
            {7},
            {1793},
            {1, 1792, 1, 1793, 1},
            std::vector<std::int64_t>(31, 5),
            std::vector<std::int64_t>(32, 5),
            std::vector<std::int64_t>(33, 5),
            std::vector<std::int64_t>(256, 7),
            std::vector<std::int64_t>(257, 7),
            std::vector<std::int64_t>(600, 0),
            std::vector<std::int64_t>(1024, 1),
            mixed,
            heavy};
}

void check_sell(const std::vector<std::int64_t>& offsets) {
    const auto rows = static_cast<std::int64_t>(offsets.size()) - 1;
    const sell_layout s = make_sell_layout(offsets);
    REQUIRE(s.row_count == rows);
    REQUIRE(s.nonzeros == offsets.back() - offsets.front());
    REQUIRE(s.slices() == (rows + slice_rows - 1) / slice_rows);
    REQUIRE(s.slice_offsets.front() == 0);
    // Every row has one place, within the window of 1024 that it comes from.
    std::vector<int> seen(static_cast<std::size_t>(rows));
    std::int64_t entries = 0;
    bool good = true;
    for (std::int64_t slice = 0; slice < s.slices(); ++slice) {
        std::int64_t longest = 0;
        for (std::int64_t place = slice * slice_rows; place < (slice + 1) * slice_rows; ++place) {
            const std::int64_t row = s.row_at(place);
            if (row < 0) continue;
            good = good && row < rows && row / 1024 == place / 1024;
            const auto r = static_cast<std::size_t>(row);
            ++seen.at(r);
            longest = std::max(longest, offsets[r + 1] - offsets[r]);
        }
        const auto at = static_cast<std::size_t>(slice);
        good = good && s.slice_offsets[at + 1] - s.slice_offsets[at] == longest * slice_rows;
        entries += longest * slice_rows;
    }
    CHECK(good);
    CHECK(std::all_of(seen.begin(), seen.end(), [](int times) { return times == 1; }));
    CHECK(s.entries() == entries);
    if (entries > 0)
        CHECK(s.padding() ==
              doctest::Approx(1 - static_cast<double>(s.nonzeros) / static_cast<double>(entries)));
    else
        CHECK(s.padding() == 0);
}

} // namespace

TEST_CASE("sell layout: every row once, slices as long as their longest row") {
    for (const auto& lengths : layout_length_cases()) {
        CAPTURE(lengths.size());
        check_sell(offsets_of(lengths));
        check_sell(offsets_of(lengths, 12'345)); // a block from the middle of a matrix
        check_sell(offsets_of(lengths, std::int64_t{1} << 33));
    }
}

TEST_CASE("sell layout: sorts only where that is worth it") {
    CHECK(make_sell_layout(offsets_of(std::vector<std::int64_t>(96, 7))).rows.empty());
    std::vector<std::int64_t> lengths(1024);
    for (std::size_t i = 0; i < lengths.size(); ++i)
        lengths[i] = i % 2 == 0 ? 1 : 9; // 44% padding as it is, none when sorted
    const sell_layout s = make_sell_layout(offsets_of(lengths));
    CHECK_FALSE(s.rows.empty());
    CHECK(s.padding() == 0);
    CHECK(s.row_at(0) == 1); // the first of the long rows: equal ones keep their order
    CHECK(s.row_at(1) == 3);
}

TEST_CASE("csr tiles: whole rows, within the limits unless a row alone is longer") {
    for (const auto& lengths : layout_length_cases())
        for (const std::int64_t first_offset : {std::int64_t{0}, std::int64_t{1} << 33}) {
            CAPTURE(lengths.size());
            const auto offsets = offsets_of(lengths, first_offset);
            const auto first = make_csr_tiles(offsets);
            REQUIRE(first.front() == 0);
            REQUIRE(first.back() == static_cast<std::int64_t>(lengths.size()));
            bool good = true;
            for (std::size_t t = 0; t + 1 < first.size(); ++t) {
                const std::int64_t rows = first[t + 1] - first[t];
                const auto entries = offsets[static_cast<std::size_t>(first[t + 1])] -
                                     offsets[static_cast<std::size_t>(first[t])];
                good = good && rows >= 1 && rows <= csr_tile_rows &&
                       (entries <= csr_tile_entries || rows == 1);
                // No tile could take the next row as well.
                if (t + 2 < first.size()) {
                    const auto more = offsets[static_cast<std::size_t>(first[t + 1]) + 1] -
                                      offsets[static_cast<std::size_t>(first[t])];
                    good = good && (rows == csr_tile_rows || more > csr_tile_entries);
                }
            }
            CHECK(good);
        }
}

TEST_CASE("boundary order: interior groups first, both in order") {
    const std::vector<bool> reads{true, false, false, true, false};
    const auto some =
        order_groups(5, [&](std::int32_t g) { return reads[static_cast<std::size_t>(g)]; });
    CHECK(some.groups == std::vector<std::int32_t>{1, 2, 4, 0, 3});
    CHECK(some.interior == 3);
    const auto none = order_groups(4, [](std::int32_t) { return false; });
    CHECK(none.groups.empty());
    CHECK(none.interior == 4);
    const auto all = order_groups(2, [](std::int32_t) { return true; });
    CHECK(all.groups == std::vector<std::int32_t>{0, 1});
    CHECK(all.interior == 0);
    CHECK(order_groups(0, [](std::int32_t) { return true; }).interior == 0);
}

TEST_CASE("spread groups: each once, both kinds in order and evenly") {
    CHECK(spread_groups(5, 3).groups == std::vector<std::int32_t>{0, 1, 3, 2, 4});
    for (const std::int32_t count : {1, 2, 7, 64, 1000})
        for (std::int32_t first = 1; first < count; first += 1 + count / 9) {
            const auto order = spread_groups(count, first);
            CAPTURE(count);
            CAPTURE(first);
            CHECK(order.interior == count);
            REQUIRE(order.groups.size() == static_cast<std::size_t>(count));
            std::int32_t before = 0;
            std::int32_t from = first;
            bool even = true;
            for (std::int32_t position = 0; position < count; ++position) {
                const std::int32_t g = order.groups[static_cast<std::size_t>(position)];
                CHECK(g == (g < first ? before++ : from++));
                const double due = (position + 1.0) * (count - first) / count;
                even = even && std::fabs(from - first - due) < 1;
            }
            CHECK(even);
            CHECK(before == first);
            CHECK(from == count);
        }
    for (const std::int32_t first : {-1, 0, 4, 9}) CHECK(spread_groups(4, first).groups.empty());
}

} // namespace krylith
