// The format that automatic is on CUDA devices. Pure arithmetic.
#include <cstddef>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/sparse/pattern/csr_tiles.hpp>
#include <krylith/sparse/pattern/sell_layout.hpp>
#include <krylith/sparse/selection/format_choice.hpp>

#include <krylith/tests/support/patterns.hpp>
#include <krylith/tests/support/random.hpp>

namespace krylith {

using testing::offsets_of;

namespace {

using lengths = std::vector<std::int64_t>;

/// The choices by use: own, sent, repeated.
std::vector<format_kind> choices(const lengths& rows) {
    std::vector<format_kind> result;
    for (const auto use : {result_use::own, result_use::sent, result_use::repeated})
        result.push_back(choose_format(measure_lengths(offsets_of(rows, 17)), use));
    return result;
}

/// Rows of `least` to `most` nonzeros, which SELL sorts.
lengths mixed(std::int64_t least, std::int64_t most) {
    testing::random_numbers random(3);
    lengths rows(8192);
    for (auto& length : rows) length = least + random.below(static_cast<int>(most - least + 1));
    const sell_layout layout = make_sell_layout(offsets_of(rows, 17));
    REQUIRE_FALSE(layout.rows.empty());
    REQUIRE(layout.padding() < 0.05);
    return rows;
}

constexpr auto csr = formats::csr;
constexpr auto sell = formats::sell;
constexpr auto csr5 = formats::csr5;
constexpr auto merge = formats::merge;

} // namespace

TEST_CASE("automatic format: sell where rows are equal, whatever becomes of results") {
    CHECK(choices(lengths(5000, 7)) == std::vector{sell, sell, sell});
    CHECK(choices({}) == std::vector{sell, sell, sell});
    CHECK(choices(lengths(64, 0)) == std::vector{sell, sell, sell});
}

TEST_CASE("automatic format: rows that SELL sorts only if short, and not to send them") {
    CHECK(choices(mixed(1, 4)) == std::vector{sell, csr, csr});
    CHECK(choices(mixed(4, 7)) == std::vector{csr, csr, csr});
}

TEST_CASE("automatic format: csr where sell would be padded by more than a tenth") {
    lengths arrow(640, 2); // every slice has a row of its own length
    for (std::size_t row = 0; row < arrow.size(); row += 16)
        arrow[row] = 2 + static_cast<std::int64_t>(row);
    REQUIRE(make_sell_layout(offsets_of(arrow, 17)).padding() > 0.1);
    CHECK(choices(arrow) == std::vector{csr, csr, csr});
}

TEST_CASE("automatic format: csr5 where one row is more than a multiprocessor's share") {
    // Blocks that borrow arrays tell these rows from those which are only not sell's.
    const auto taken = [](const lengths& rows) {
        const block_lengths measured = measure_lengths(offsets_of(rows, 17));
        const bool uneven = choose_borrowing_format(measured, result_use::sent) == merge;
        if (uneven) CHECK(choose_format(measured, result_use::sent) == csr5);
        return uneven;
    };
    lengths even(200'000, 10);
    CHECK_FALSE(taken(even));
    even[77] = 16'000; // of 2,015,990: 1 / 132 of them are 15,272
    CHECK(taken(even));
    CHECK(choices(even)[2] == csr);
    even[77] = 15'000;
    CHECK_FALSE(taken(even));
    CHECK(taken({0, 1'000'000, 0}));
    CHECK_FALSE(taken({0, 999'999, 0}));
}

TEST_CASE("automatic format: csr5 where rows longer than csr's tiles have a tenth") {
    // There are 10,000 rows of 200, two million nonzeros; a row has less than a multiprocessor's
    // fraction.
    const auto with_long_rows = [](std::size_t count, std::int64_t length) {
        lengths rows(10'000, 200);
        rows.resize(rows.size() + count, length);
        return choices(rows);
    };
    constexpr std::int64_t longer = csr_tile_entries + 1; // 124 of them have 222,332 of 2,222,332
    CHECK(with_long_rows(124, longer) == std::vector{csr5, csr5, sell});
    CHECK(with_long_rows(123, longer)[0] == sell);
    CHECK(with_long_rows(5000, csr_tile_entries)[0] == sell);
}

TEST_CASE("automatic format: csr5 from ten million nonzeros where rows are not sell's") {
    const auto uneven_slices = [](std::size_t count) { // every slice has a longer row
        lengths rows(count, 10);
        for (std::size_t row = 0; row < count; row += 16)
            rows[row] = 10 + static_cast<std::int64_t>(row % 700);
        REQUIRE(make_sell_layout(offsets_of(rows, 17)).padding() > 0.1);
        return choices(rows);
    };
    CHECK(uneven_slices(400'000) == std::vector{csr5, csr, csr});
    CHECK(uneven_slices(40'000) == std::vector{csr, csr, csr});
    testing::random_numbers random(4);
    lengths short_rows(4'000'000); // SELL sorts them
    for (auto& length : short_rows) length = 1 + random.below(5);
    CHECK(choices(short_rows) == std::vector{csr5, csr, csr});
    short_rows.resize(300'000);
    CHECK(choices(short_rows) == std::vector{sell, csr, csr});
}

TEST_CASE("automatic format: blocks that use the caller's arrays keep their order") {
    const auto taken = [](const lengths& rows, result_use use) {
        return choose_borrowing_format(measure_lengths(offsets_of(rows, 17)), use);
    };
    lengths rows(200'000, 10);
    CHECK(taken(rows, result_use::own) == csr);
    rows[77] = 20'000;
    CHECK(taken(rows, result_use::own) == merge);
    CHECK(taken(rows, result_use::sent) == merge);
    CHECK(taken(rows, result_use::repeated) == csr);
    CHECK(merge->borrows);
    CHECK(csr->borrows);
}

} // namespace krylith
