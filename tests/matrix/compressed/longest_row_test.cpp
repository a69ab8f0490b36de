// The pass over row offsets finds where they descend and which row is longest, on chunks of all
// sizes.
#include <krylith/matrix/csr.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

namespace krylith {

namespace {

/// The offsets of `rows` rows of 1 entry, but `length` in row `which`.
std::vector<std::int64_t> offsets_with(std::int64_t rows, std::int64_t which, std::int64_t length) {
    std::vector<std::int64_t> offsets{0};
    for (std::int64_t row = 0; row < rows; ++row)
        offsets.push_back(offsets.back() + (row == which ? length : 1));
    return offsets;
}

constexpr std::int64_t row_counts[] = {1, 2, 100, 65'535, 65'536, 65'537, 200'000};

} // namespace

TEST_CASE("longest row: found wherever it is") {
    for (const std::int64_t rows : row_counts)
        for (const std::int64_t which :
             {std::int64_t{0}, rows / 2, rows - 1, std::min<std::int64_t>(rows - 1, 65'536)}) {
            CAPTURE(rows);
            CAPTURE(which);
            const auto scan = scan_offsets(offsets_with(rows, which, 5));
            CHECK(scan.longest == longest_row{which, 5});
            CHECK(scan.first_descent == rows);
        }
}

TEST_CASE("longest row: the first of several, 0 of none") {
    CHECK(find_longest_row(offsets_with(200'000, 0, 1)) == longest_row{0, 1});
    CHECK(find_longest_row(std::vector<std::int64_t>{0, 1, 5, 9, 11}) == longest_row{1, 4});
    CHECK(find_longest_row(std::vector<std::int64_t>{0, 0, 0}) == longest_row{0, 0});
    CHECK(find_longest_row(std::vector<std::int64_t>{7}) == longest_row{});
    CHECK(find_longest_row({}) == longest_row{});
    auto offsets = offsets_with(200'000, 70'000, 4);
    for (std::size_t i = 150'000; i < offsets.size(); ++i) offsets[i] += 3; // as long, and later
    CHECK(find_longest_row(offsets) == longest_row{70'000, 4});
}

TEST_CASE("longest row: the first row that ends before it starts") {
    for (const std::int64_t rows : row_counts)
        for (const std::int64_t bad : {std::int64_t{0}, rows / 2, rows - 1}) {
            CAPTURE(rows);
            CAPTURE(bad);
            auto offsets = offsets_with(rows, rows, 1);
            offsets[static_cast<std::size_t>(bad) + 1] = -1;
            CHECK(scan_offsets(offsets).first_descent == bad);
        }
    constexpr auto least = std::numeric_limits<std::int64_t>::min();
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    CHECK(scan_offsets(std::vector<std::int64_t>{0, most, least, most}).first_descent == 1);
    CHECK(scan_offsets(std::vector<std::int64_t>{0, least, most, 0}).first_descent == 0);
}

TEST_CASE_TEMPLATE("longest row: what validation returns", T, double, float) {
    const csr_matrix<T> a{4, 3, {0, 1, 1, 4, 5}, {0, 0, 1, 2, 1}, {1, 2, 3, 4, 5}};
    CHECK(validate(a) == longest_row{2, 3});
    CHECK(validate_pattern(csr_view<T>(a)) == longest_row{2, 3});
    CHECK(validate(csr_matrix<T>{}) == longest_row{});
    CHECK(validate(csr_matrix<T>{2, 0, {0, 0, 0}, {}, {}}) == longest_row{0, 0});
}

} // namespace krylith
