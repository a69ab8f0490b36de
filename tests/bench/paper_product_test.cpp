// The paper's slower versions of streamed products: every form and number of devices.
#include <krylith/bench/streamed/paper_product.hpp>

#include <cstring>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/matrix/conversions.hpp>

#include <krylith/tests/partition/nonzero/range_matrices.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/oracle.hpp>
#include <krylith/tests/support/random.hpp>

namespace krylith::bench {
namespace {

using krylith::testing::random_numbers;
using partition_tests::test_arrays;
using partition_tests::test_matrix;

constexpr paper_version versions[]{paper_version::baseline, paper_version::p};

/// Calls body for the matrix in every form.
template <class Body>
void for_forms(const test_matrix& m, random_numbers& random, const Body& body) {
    const test_arrays rows(m.entries);
    const auto row_offsets = test_arrays::offsets(rows.row_indices, m.rows);
    body(streamed_matrix_of(
        csr_view<double>(m.rows, m.columns, row_offsets, rows.column_indices, rows.values)));
    const test_arrays columns(partition_tests::by_columns(m.entries));
    const auto column_offsets = test_arrays::offsets(columns.column_indices, m.columns);
    body(streamed_matrix_of(
        csc_view<double>(m.rows, m.columns, column_offsets, columns.row_indices, columns.values)));
    const auto coo = [&](const test_arrays& e, coo_order order) {
        body(streamed_matrix_of(
            coo_view<double>(m.rows, m.columns, e.row_indices, e.column_indices, e.values), order));
    };
    coo(rows, coo_order::by_rows);
    coo(columns, coo_order::by_columns);
    coo(test_arrays(partition_tests::shuffled(m.entries, random)), coo_order::unsorted);
}

/// Sums of small integers are exact in any order, so results must be equal.
void check_random(const device_group& group, int first, int count) {
    std::vector<std::unique_ptr<paper_product>> products;
    for (const paper_version version : versions) {
        products.push_back(std::make_unique<paper_product>(group, version));
    }
    for (int number = first; number < first + count; ++number) {
        const test_matrix m = partition_tests::random_matrix(number);
        CAPTURE(number);
        CAPTURE(m.shape);
        random_numbers random(static_cast<std::uint64_t>(number) + 77);
        std::vector<double> x;
        for (std::int64_t i = 0; i < m.columns; ++i) {
            x.push_back(static_cast<double>(random.below(9) - 4));
        }
        const std::vector<double> zero(as_size(m.rows));
        const auto expected = partition_tests::product(m, 1, x, 0, zero);
        for (const auto& product : products) {
            for_forms(m, random, [&](const streamed_matrix<double>& a) {
                CAPTURE(to_string(a.form));
                std::vector<double> y(as_size(m.rows), std::numeric_limits<double>::quiet_NaN());
                const streamed_times times = product->multiply(a, x, y);
                CHECK(y == expected);
                CHECK(times.total == doctest::Approx(times.partition + times.distribution +
                                                     times.kernel + times.merge));
            });
        }
    }
}

KRYLITH_GROUP_TEST("the paper's versions of products of random matrices") {
    check_random(group, 340 * group.size(), 90);
}

TEST_CASE("the paper's versions of products of random matrices on 5, 6 and 8 parts") {
    for (const int parts : {5, 6, 8}) {
        check_random(device_group::host(parts), 9000, 30);
    }
}

KRYLITH_GROUP_TEST("the paper's versions of products: a long row, and the same bits") {
    random_numbers random(5);
    test_matrix m{"a long row", 20000, 15000, {}};
    csr_matrix<double> a{m.rows, m.columns, {0}, {}, {}};
    for (std::int64_t i = 0; i < m.rows; ++i) {
        const std::int64_t length = i == m.rows / 2 ? 2 * m.rows : i % 7 == 0 ? 0 : random.below(8);
        for (std::int64_t k = 0; k < length; ++k) {
            const std::int32_t column = random.below(15000);
            m.entries.push_back({static_cast<std::int32_t>(i), column, random.real()});
            a.column_indices.push_back(column);
            a.values.push_back(m.entries.back().value);
        }
        a.row_offsets.push_back(a.nnz());
    }
    const auto x = krylith::testing::random_values<double>(a.columns, 1);
    std::vector<double> y(as_size(a.rows));
    const auto expected = krylith::testing::product<double>(a, 1, x, 0, y);
    for (const paper_version version : versions) {
        paper_product product(group, version);
        for_forms(m, random, [&](const streamed_matrix<double>& form) {
            CAPTURE(to_string(form.form));
            (void)product.multiply(form, x, y);
            bool good = true;
            for (std::size_t i = 0; i < y.size(); ++i) {
                good = good && expected[i].template allows<double>(y[i]);
            }
            CHECK(good);
            std::vector<double> again(y.size());
            (void)product.multiply(form, x, again);
            CHECK(std::memcmp(y.data(), again.data(), y.size() * sizeof(double)) == 0);
            CHECK(product.kernel_seconds(2) > 0);
        });
    }
}

TEST_CASE("the paper's versions: partitions of random matrices pass their check") {
    for (int number = 0; number < 300; ++number) {
        const test_matrix m = partition_tests::random_matrix(number);
        CAPTURE(number);
        random_numbers random(static_cast<std::uint64_t>(number));
        for (int ranks = 1; ranks <= 8; ++ranks) {
            for_forms(m, random, [&](const streamed_matrix<double>& a) {
                const pcsr parts = split_for_paper(a, paper_version::baseline, ranks);
                REQUIRE(parts.ranges.size() == as_size(ranks));
                if (compressed(a.form)) {
                    check(parts, a.offsets);
                } else if (a.form != streamed_form::coo_unsorted) {
                    check(parts, a.major_size(), a.major_indices());
                }
                for (const major_range& range : parts.ranges) { // whole rows or columns
                    CHECK_FALSE(range.start_flag);
                }
            });
        }
    }
}

} // namespace
} // namespace krylith::bench
