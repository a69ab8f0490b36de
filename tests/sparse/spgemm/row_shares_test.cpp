// The division of rows among threads.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/matrix/csr.hpp>
#include <krylith/sparse/spgemm/row_shares.hpp>

#include <krylith/tests/sparse/spgemm/spgemm_cases.hpp>

namespace krylith::host {

namespace {

std::vector<std::int64_t> rows_of(const std::vector<row_place>& places) {
    std::vector<std::int64_t> rows;
    for (const row_place& place : places) rows.push_back(place.row);
    return rows;
}

csr_pattern pattern_of(const csr_matrix<double>& a) {
    return {a.rows, a.columns, a.nnz(), a.row_offsets.data(), a.column_indices.data(), false};
}

/// The products of a row of A B in the columns below `end`, by a plain loop.
std::int64_t products_below(const csr_matrix<double>& a, const csr_matrix<double>& b,
                            std::int64_t row, std::int64_t end) {
    if (row == a.rows) return 0;
    std::int64_t count = 0;
    for (auto k = a.row_offsets[static_cast<std::size_t>(row)];
         k < a.row_offsets[static_cast<std::size_t>(row) + 1]; ++k) {
        const auto from = static_cast<std::size_t>(a.column_indices[static_cast<std::size_t>(k)]);
        for (auto j = b.row_offsets[from]; j < b.row_offsets[from + 1]; ++j)
            count += b.column_indices[static_cast<std::size_t>(j)] < end ? 1 : 0;
    }
    return count;
}

} // namespace

TEST_CASE("row shares: every row has one thread, whatever the rows") {
    for (const auto& before : std::vector<std::vector<std::int64_t>>{
             {0}, {0, 0}, {0, 5}, {0, 0, 0, 100}, {0, 100, 100, 100}, {0, 1, 2, 3, 4, 5, 6}})
        for (const int parts : {1, 2, 3, 7}) {
            const auto first = equal_products(before, parts);
            REQUIRE(first.size() == static_cast<std::size_t>(parts) + 1);
            CHECK(first.front().row == 0);
            CHECK(first.back().row == static_cast<std::int64_t>(before.size()) - 1);
            const auto rows = rows_of(first);
            CHECK(std::is_sorted(rows.begin(), rows.end()));
            for (const row_place& place : first) CHECK(place.products == 0);
        }
}

TEST_CASE("row shares: equal products") {
    std::vector<std::int64_t> before{0};
    for (int i = 0; i < 1000; ++i) before.push_back(before.back() + (i < 100 ? 90 : 10));
    const auto first = equal_products(before, 2);
    // 100 rows of 91 and 900 of 11: half of 19000 is reached behind 9500 = 100 * 91 + 36 * 11.
    CHECK(first[1].row >= 135);
    CHECK(first[1].row <= 138);
}

TEST_CASE("row shares: numbers beyond 32 bits") {
    const std::int64_t many = std::int64_t{1} << 61;
    const std::vector<std::int64_t> before{0, many, 2 * many, 3 * many};
    const auto first = equal_products(before, 2); // within the second row
    CHECK(first[1].row == 1);
    CHECK(first[1].products == many / 2);
}

TEST_CASE("row shares: a giant row is cut where its products are") {
    const mocked_products_worth few(1);
    // Row 7 of A has all entries; the columns of B are crowded at both ends.
    const auto a = testing::rows_of_lengths(
        20, 3000, [](std::int64_t i) { return i == 7 ? 3000 : 2; }, 3);
    const auto b = testing::rows_of_lengths(
        3000, 40000, [](std::int64_t i) { return i % 9; }, 4);
    std::vector<std::int64_t> before{0};
    for (std::int64_t i = 0; i < a.rows; ++i)
        before.push_back(before.back() + products_below(a, b, i, b.columns));
    for (const int parts : {2, 3, 8}) {
        CAPTURE(parts);
        auto places = equal_products(before, parts);
        cut_giant_rows(pattern_of(a), pattern_of(b), places, 3);
        std::int64_t done = 0;
        for (int part = 1; part <= parts; ++part) {
            const row_place& place = places[static_cast<std::size_t>(part)];
            CHECK(place.products == products_below(a, b, place.row, place.column));
            const std::int64_t now = before[static_cast<std::size_t>(place.row)] + place.products;
            // To a block of 40 of the 40,000 columns.
            CHECK(now - done == doctest::Approx(before.back() / parts).epsilon(0.05));
            done = now;
        }
        CHECK(done == before.back());
    }
}

TEST_CASE("row shares: products in one column can't be divided") {
    const mocked_products_worth few(1);
    const auto a = testing::rows_of_lengths(
        1, 500, [](std::int64_t) { return 500; }, 3);
    const auto one = testing::rows_of_lengths(
        500, 1, [](std::int64_t) { return 1; }, 4);
    std::vector<row_place> places = equal_products(std::vector<std::int64_t>{0, 500}, 4);
    CHECK(places[2].products > 0);
    cut_giant_rows(pattern_of(a), pattern_of(one), places, 2);
    CHECK(rows_of(places) == std::vector<std::int64_t>{0, 1, 1, 1, 1});
    for (const row_place& place : places) CHECK(place.column == 0);
}

} // namespace krylith::host
