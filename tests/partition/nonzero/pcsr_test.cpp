// pCSR, pCSC and pCOO of 2000 random matrices in 1 to 8 ranges: the ranges are whole together, and
// their product is that of the matrix.
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/device/error.hpp>
#include <krylith/partition/nonzero/coo_order.hpp>
#include <krylith/partition/pcsr.hpp>

#include <krylith/tests/partition/nonzero/range_matrices.hpp>
#include <krylith/tests/partition/nonzero/range_products.hpp>

namespace krylith::partition_tests {

using testing::random_numbers;

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

nonzero_partition of_sizes(const std::vector<std::int64_t>& sizes) {
    nonzero_partition cuts;
    for (const std::int64_t size : sizes) cuts.begin.push_back(cuts.begin.back() + size);
    return cuts;
}

std::vector<double> integers(std::int64_t count, random_numbers& random) {
    std::vector<double> result;
    for (std::int64_t i = 0; i < count; ++i) result.push_back(random.below(41) - 20);
    return result;
}

/// The product of the ranges is exact, so that results are equal; y is NaN where it must not be
/// read.
template <class Product>
void check_products(const test_matrix& m, const Product& multiply, random_numbers& random) {
    const std::vector<double> x = integers(m.columns, random);
    for (const double alpha : {0.0, 1.0, -2.5})
        for (const double beta : {0.0, 1.0, -2.5}) {
            std::vector<double> y = integers(m.rows, random);
            if (beta == 0) y.assign(y.size(), nan);
            const bool equal = multiply(alpha, x, beta, y) == product(m, alpha, x, beta, y);
            CHECK_MESSAGE(equal, "alpha " << alpha << ", beta " << beta);
        }
}

void check_equal(const pcsr& parts, std::int64_t entries) {
    const auto count = static_cast<std::int64_t>(parts.ranges.size());
    for (const major_range& range : parts.ranges) {
        CHECK(range.entries() >= entries / count);
        CHECK(range.entries() <= (entries + count - 1) / count);
    }
}

/// As plainly as possible.
void check_last_holders(const pcsr& parts) {
    for (std::size_t k = 0; k < parts.ranges.size(); ++k) {
        std::size_t last = k;
        for (std::size_t i = k + 1; i < parts.ranges.size(); ++i)
            if (parts.ranges[i].start_flag && parts.ranges[k].owned().size() > 0 &&
                parts.ranges[i].start_major == parts.ranges[k].end_major - 1)
                last = i;
        CHECK(parts.last_holder(static_cast<int>(k)) == static_cast<int>(last));
    }
}

/// Any cuts of the entries. Returns the ranges by rows.
pcsr check_compressed(const test_matrix& m, const nonzero_partition& cuts, random_numbers& random) {
    const test_arrays rows(m.entries);
    const auto row_offsets = test_arrays::offsets(rows.row_indices, m.rows);
    const pcsr a = make_pcsr(row_offsets, cuts);
    CHECK_NOTHROW(check(a, row_offsets));
    CHECK_NOTHROW(check(a.owned(), m.rows));
    check_last_holders(a);
    check_products(
        m,
        [&](double alpha, const auto& x, double beta, const auto& y) {
            return product_by_rows(a, rows, row_offsets, alpha, x, beta, y);
        },
        random);

    const test_arrays columns(by_columns(m.entries));
    const auto column_offsets = test_arrays::offsets(columns.column_indices, m.columns);
    const pcsr b = make_pcsr(column_offsets, cuts);
    CHECK_NOTHROW(check(b, column_offsets));
    CHECK_NOTHROW(check(b.owned(), m.columns));
    check_products(
        m,
        [&](double alpha, const auto& x, double beta, const auto& y) {
            return product_by_columns(b, columns, column_offsets, alpha, x, beta, y);
        },
        random);

    // Coordinates are cut alike.
    CHECK(make_pcoo(m.rows, rows.row_indices, cuts) == a);
    CHECK(make_pcoo(m.columns, columns.column_indices, cuts) == b);
    CHECK_NOTHROW(check(a, m.rows, rows.row_indices));
    CHECK_NOTHROW(check(b, m.columns, columns.column_indices));
    return a;
}

} // namespace

TEST_CASE("parts: random matrices in equal parts are whole again and multiply alike") {
    for (int number = 0; number < 2000; ++number) {
        const test_matrix m = random_matrix(number);
        random_numbers random(static_cast<std::uint64_t>(number) + 5000);
        const auto entries = static_cast<std::int64_t>(m.entries.size());
        for (int parts = 1; parts <= 8; ++parts) {
            INFO(m.shape << ", matrix " << number << " on " << parts << " parts");
            check_equal(check_compressed(m, equal_entries(entries, parts), random), entries);
        }
    }
}

TEST_CASE("parts: any sizes, with parts of no entries before, among and after the others") {
    for (int number = 0; number < 400; ++number) {
        const test_matrix m = random_matrix(number);
        random_numbers random(static_cast<std::uint64_t>(number) + 9000);
        std::int64_t left = static_cast<std::int64_t>(m.entries.size());
        std::vector<std::int64_t> sizes;
        for (int part = random.below(10); part >= 0; --part) {
            const auto some = random.flip() ? 0 : random.below(static_cast<int>(left) + 1);
            sizes.push_back(part == 0 && random.flip() ? left : some);
            left -= sizes.back();
        }
        sizes.push_back(left);
        sizes.resize(sizes.size() + as_size(random.below(3)), 0);
        INFO(m.shape << ", matrix " << number << " on " << sizes.size() << " parts");
        (void)check_compressed(m, of_sizes(sizes), random);
    }
}

TEST_CASE("parts: enough entries for teams of threads") {
    test_matrix m{"large", 50000, 50000, {}};
    random_numbers random(3);
    for (std::int32_t i = 0; i < 50000; ++i)
        for (int k = i == 7000 ? 40000 : random.below(5); k > 0; --k)
            m.entries.push_back({i, random.below(50000), static_cast<double>(random.below(9))});
    const auto entries = static_cast<std::int64_t>(m.entries.size());
    for (const int parts : {1, 3, 8})
        check_equal(check_compressed(m, equal_entries(entries, parts), random), entries);
}

TEST_CASE("parts: a row over all parts, and where rows without entries go") {
    // Rows 0 and 1 are empty, row 2 has 9 entries, rows 3 to 6 are empty, row 7 has 1.
    const std::vector<std::int64_t> offsets{0, 0, 0, 9, 9, 9, 9, 9, 10};
    const pcsr parts = make_pcsr(offsets, of_sizes({3, 3, 0, 3, 1}));
    const std::vector<major_range> expected{{0, 3, 0, 3, false},
                                            {3, 6, 2, 3, true},
                                            {6, 6, 3, 3, false},
                                            {6, 9, 2, 6, true}, // nearest to 4/5 of 8 rows
                                            {9, 10, 6, 8, false}};
    CHECK(parts.ranges == expected);
    CHECK(parts.shared == std::vector<shared_major>{{2, 0, 3}});
    CHECK(parts.last_holder(0) == 3);
    CHECK(parts.last_holder(1) == 1);
    CHECK(parts.owned().begin == std::vector<std::int64_t>{0, 3, 3, 3, 6, 8});
    const std::vector<cut_place> too_few(2);
    CHECK_THROWS_AS((void)make_pcsr(8, too_few, of_sizes({3, 7})), usage_error);
    // Without entries rows are split like equal rows.
    const std::vector<std::int64_t> none(9, 0);
    CHECK(make_pcsr(none, equal_entries(0, 3)).owned() == equal_rows(8, 3));
}

TEST_CASE("parts: the order of coordinates") {
    using list = std::vector<std::int32_t>;
    CHECK(find_coo_order({}, {}) == coo_order::by_rows);
    CHECK(find_coo_order(list{0, 0, 2}, list{5, 1, 1}) == coo_order::by_rows);
    CHECK(find_coo_order(list{0, 5, 2}, list{1, 1, 3}) == coo_order::by_columns);
    CHECK(find_coo_order(list{0, 5, 2}, list{1, 3, 1}) == coo_order::unsorted);
    CHECK(std::string(to_string(coo_order::by_columns)) == "by columns");
    list rows(100000, 4);
    list columns(100000, 4);
    CHECK(find_coo_order(rows, columns) == coo_order::by_rows);
    rows[99998] = 3;
    CHECK(find_coo_order(rows, columns) == coo_order::by_columns);
    // Wherever two threads meet.
    for (std::size_t at = 1; at + 1 < columns.size(); at += 1 + at / 7 % 1000) {
        columns[at] = 5;
        CHECK(find_coo_order(rows, columns) == coo_order::unsorted);
        columns[at] = 4;
    }
}

} // namespace krylith::partition_tests
