// Sums by columns of one row, against a map.
#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/matrix/types/index_width.hpp>
#include <krylith/sparse/spgemm/column_sums.hpp>

namespace krylith::host {

TEST_CASE("column sums: rows of all lengths, one after the other") {
    std::mt19937 random(29);
    for (const std::int64_t columns : {1, 63, 200, 5000}) {
        column_sums<double> row(columns);
        for (const int terms : {0, 1, 15, 16, 17, 64, 65, 300, 3, 0, 4000, 2}) {
            CAPTURE(columns);
            CAPTURE(terms);
            std::map<std::int32_t, double> expected;
            row.begin(as_size(std::min<std::int64_t>(columns, terms)));
            for (int i = 0; i < terms; ++i) {
                const auto column = static_cast<std::int32_t>(random() % as_size(columns));
                const double term = 1.0 / static_cast<double>(1 + random() % 1000);
                row.add(column, term);
                expected[column] += term;
            }
            // What lies behind the row stays as it was.
            std::vector<std::int32_t> found(expected.size() + 1, -7);
            std::vector<double> sums(expected.size() + 1, -7);
            REQUIRE(row.take(found.data(), sums.data()) == expected.size());
            CHECK(found.back() == -7);
            CHECK(sums.back() == -7);
            std::size_t at = 0;
            for (const auto& [column, sum] : expected) {
                CHECK(found[at] == column);
                CHECK(sums[at++] == sum);
            }
        }
    }
}

TEST_CASE("column sums: drained, and empty afterwards") {
    column_sums<std::int32_t> row(100);
    for (int time = 0; time < 2; ++time) {
        row.begin(3);
        for (const std::int32_t column : {70, 3, 99, 3, 70, 3}) row.add(column, column + 1);
        std::map<std::int32_t, std::int32_t> found;
        row.drain([&](std::int32_t column, std::int32_t sum) { found[column] += sum; });
        CHECK(found == std::map<std::int32_t, std::int32_t>{{3, 12}, {70, 142}, {99, 100}});
    }
}

} // namespace krylith::host
