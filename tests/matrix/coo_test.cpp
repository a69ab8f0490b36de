#include <krylith/matrix/coo.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery/counter_hash.hpp>
#include <krylith/tests/matrix/support/dense.hpp>
#include <krylith/tests/matrix/support/message_of.hpp>

namespace {

using krylith::coo_matrix;

std::string conversion_refusal(const coo_matrix<double>& matrix) {
    return krylith::test::message_of<krylith::input_error>(
        [&] { static_cast<void>(to_csr(matrix)); });
}

} // namespace

TEST_CASE("unsorted entries are sorted, duplicates summed, zeros kept") {
    const coo_matrix<double> coo{3, 4, {2, 0, 2, 0, 2, 0}, {3, 1, 0, 1, 3, 2}, {1, 2, 3, 4, 5, 0}};
    const auto csr = to_csr(coo);
    validate(csr);
    CHECK(csr.row_offsets == std::vector<std::int64_t>{0, 2, 2, 4});
    CHECK(csr.column_indices == std::vector<std::int32_t>{1, 2, 0, 3});
    CHECK(csr.values == std::vector<double>{6, 0, 3, 6});
}

TEST_CASE("duplicates are summed in the order in which they stand") {
    // (1e16 + 1) - 1e16 is 0, (1e16 - 1e16) + 1 is 1: the order shows.
    const coo_matrix<double> lost{1, 2, {0, 0, 0, 0}, {1, 1, 0, 1}, {1e16, 1, 7, -1e16}};
    CHECK(to_csr(lost).values == std::vector<double>{7, 0});
    const coo_matrix<double> kept{1, 2, {0, 0, 0, 0}, {1, 1, 0, 1}, {1e16, -1e16, 7, 1}};
    CHECK(to_csr(kept).values == std::vector<double>{7, 1});

    // This row is long enough to be sorted otherwise than by insertion.
    coo_matrix<double> longer{1, 100, {}, {}, {}};
    for (std::int32_t k = 99; k >= 0; --k) {
        for (const double value : {1e16, 1.0, -1e16}) {
            longer.row_indices.push_back(0);
            longer.column_indices.push_back(k);
            longer.values.push_back(value);
        }
    }
    CHECK(to_csr(longer).values == std::vector<double>(100, 0.0));
}

TEST_CASE("empty matrices convert") {
    CHECK(to_csr(coo_matrix<double>{}) == krylith::csr_matrix<double>{});
    const auto rows_only = to_csr(coo_matrix<float>{3, 0, {}, {}, {}});
    CHECK(rows_only.row_offsets == std::vector<std::int64_t>{0, 0, 0, 0});
    CHECK(rows_only.nnz() == 0);
}

TEST_CASE("a large random matrix agrees with a sorted map") {
    // There are enough entries for several threads, rows of very different lengths, many
    // duplicates.
    const std::int64_t entries = 300'000;
    coo_matrix<double> coo{1000, 700, {}, {}, {}};
    std::map<std::pair<std::int32_t, std::int32_t>, double> expected;
    for (std::int64_t k = 0; k < entries; ++k) {
        const auto draw = [&](std::uint64_t what) {
            return krylith::unit_interval(
                krylith::counter_hash(3, static_cast<std::uint64_t>(k), what));
        };
        const double skewed = draw(0) * draw(1) * draw(2);
        const auto row = static_cast<std::int32_t>(skewed * 1000);
        const auto column = static_cast<std::int32_t>(draw(3) * 700);
        const double value = draw(4);
        coo.row_indices.push_back(row);
        coo.column_indices.push_back(column);
        coo.values.push_back(value);
        expected[{row, column}] += value;
    }
    const auto csr = to_csr(coo);
    validate(csr);
    CHECK(canonical(csr));
    REQUIRE(csr.nnz() == static_cast<std::int64_t>(expected.size()));
    std::size_t k = 0;
    std::int64_t wrong = 0;
    std::int64_t row = 0;
    for (const auto& [place, value] : expected) {
        while (csr.row_offsets[static_cast<std::size_t>(row + 1)] <= static_cast<std::int64_t>(k)) {
            ++row;
        }
        wrong +=
            row != place.first || csr.column_indices[k] != place.second || csr.values[k] != value;
        ++k;
    }
    CHECK(wrong == 0);
}

TEST_CASE("validate names the first offence of a COO matrix") {
    coo_matrix<double> coo{3, 2, {0, 1, 2}, {1, 0, 1}, {1, 2, 3}};
    CHECK(conversion_refusal(coo) == "no exception");
    SUBCASE("sizes disagree") {
        coo.values.pop_back();
        CHECK(conversion_refusal(coo).find("3, 3 and 2 entries, allowed") != std::string::npos);
    }
    SUBCASE("row too large") {
        coo.row_indices[1] = 3;
        CHECK(conversion_refusal(coo).find("row_indices[1] is 3, allowed") != std::string::npos);
    }
    SUBCASE("row negative") {
        coo.row_indices[2] = -1;
        CHECK(conversion_refusal(coo).find("row_indices[2] is -1, allowed") != std::string::npos);
    }
    SUBCASE("column too large") {
        coo.column_indices[0] = 2;
        CHECK(conversion_refusal(coo).find("column_indices[0] is 2, allowed") != std::string::npos);
    }
    SUBCASE("the first of several") {
        coo = {1, 1, std::vector<std::int32_t>(100000, 0), std::vector<std::int32_t>(100000, 0),
               std::vector<double>(100000, 1)};
        coo.row_indices[31] = coo.row_indices[32] = coo.row_indices[99999] = 1;
        CHECK(conversion_refusal(coo).find("row_indices[31] is 1, allowed") != std::string::npos);
    }
    SUBCASE("rows negative") {
        coo.rows = -3;
        CHECK(conversion_refusal(coo).find("rows is -3, allowed") != std::string::npos);
    }
    SUBCASE("rows beyond 32 bits") {
        coo.rows = std::int64_t{1} << 31;
        CHECK(conversion_refusal(coo).find("rows is 2147483648, allowed") != std::string::npos);
    }
    SUBCASE("columns beyond 32 bits") {
        coo.columns = std::int64_t{1} << 40;
        CHECK(conversion_refusal(coo).find("columns is 1099511627776, allowed") !=
              std::string::npos);
    }
}
