// Sums of matrices over the devices of a group: what a loop over all places adds up, with the same
// bits on any number of devices.
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/device/error.hpp>
#include <krylith/distributed/distributed_products.hpp>
#include <krylith/matrix/gallery/poisson.hpp>
#include <krylith/tests/distributed/products/split_rows.hpp>
#include <krylith/tests/sparse/spgemm/spgemm_cases.hpp>
#include <krylith/tests/support/groups.hpp>

namespace krylith {

namespace {

using testing::split;

/// alpha A + beta B by places.
template <class T>
csr_matrix<T> plain_sum(T alpha, const csr_matrix<T>& a, T beta, const csr_matrix<T>& b) {
    csr_matrix<T> sum;
    sum.rows = a.rows;
    sum.columns = a.columns;
    for (std::int64_t i = 0; i < a.rows; ++i) {
        std::map<std::int32_t, T> row;
        const auto take = [&](T factor, const csr_matrix<T>& m) {
            for (std::int64_t k = m.row_offsets[std::size_t(i)];
                 k < m.row_offsets[std::size_t(i) + 1]; ++k) {
                const volatile T product = factor * m.values[std::size_t(k)]; // rounded by itself
                const auto [place, is_new] =
                    row.emplace(m.column_indices[std::size_t(k)], T(product));
                if (!is_new) place->second += product;
            }
        };
        take(alpha, a);
        take(beta, b);
        for (const auto& [column, value] : row) {
            sum.column_indices.push_back(column);
            sum.values.push_back(value);
        }
        sum.row_offsets.push_back(static_cast<std::int64_t>(sum.values.size()));
    }
    return sum;
}

/// The rows of a matrix in reverse order: another pattern of the same size.
template <class T>
csr_matrix<T> upside_down(const csr_matrix<T>& a) {
    csr_matrix<T> turned;
    turned.rows = a.rows;
    turned.columns = a.columns;
    for (std::int64_t i = a.rows; i-- > 0;) {
        const auto begin = a.row_offsets[std::size_t(i)];
        const auto end = a.row_offsets[std::size_t(i) + 1];
        turned.column_indices.insert(turned.column_indices.end(), a.column_indices.begin() + begin,
                                     a.column_indices.begin() + end);
        turned.values.insert(turned.values.end(), a.values.begin() + begin, a.values.begin() + end);
        turned.row_offsets.push_back(static_cast<std::int64_t>(turned.values.size()));
    }
    return turned;
}

template <class T>
void check_sum(const device_group& group, T alpha, const csr_matrix<T>& a, T beta,
               const csr_matrix<T>& b) {
    const auto sum = add(alpha, split(group, a), beta, split(group, b));
    CHECK(sum.download() == plain_sum(alpha, a, beta, b));
    CHECK(sum.rows_ascend());
}

} // namespace

KRYLITH_GROUP_TEST("distributed sum: each place has alpha a + beta b") {
    for (const auto& c : testing::spgemm_cases()) {
        CAPTURE(c.surfaces);
        const csr_matrix<double>& b = c.b; // whose columns ascend
        check_sum(group, 1.0, b, 1.0, upside_down(b));
        check_sum(group, 0.3, upside_down(b), -1.7, b);
        check_sum(group, 1.0, b, -1.0, b); // entries that cancel out stay
        const auto narrow = testing::as_type<float>(b);
        check_sum(group, 0.3f, narrow, -1.7f, upside_down(narrow));
    }
}

KRYLITH_GROUP_TEST("distributed sum: 32 bits need not number the columns") {
    if (group.size() == 1) return; // it would own more than is allowed
    row_partition columns;
    for (int k = 0; k < group.size(); ++k)
        columns.begin.push_back(columns.begin.back() + (std::int64_t{1} << 31) - 100);
    const std::vector<std::int64_t> offsets{0, 2};
    const std::vector<double> values{1, 2};
    std::vector<std::vector<std::int64_t>> of_a;
    std::vector<std::vector<std::int64_t>> of_b;
    for (int k = 0; k < group.size(); ++k) {
        const row_range own = columns.owned(k);
        of_a.push_back(k == 0 ? std::vector{own.begin + 7, columns.rows() - 1}
                              : std::vector{own.begin - 2, own.begin + 7});
        of_b.push_back(k == 0 ? std::vector{own.begin + 7, own.end + 5}
                              : std::vector{std::int64_t{1}, own.end - 1});
    }
    const auto made_of = [&](const std::vector<std::vector<std::int64_t>>& rows) {
        std::vector<csr_part<double>> parts;
        for (const auto& row : rows)
            parts.push_back({1, offsets.data(), row.data(), values.data()});
        return distributed_csr<double>(group, parts, columns);
    };
    const auto sum = add(1.0, made_of(of_a), 10.0, made_of(of_b));
    for (int k = 0; k < group.size(); ++k) {
        CAPTURE(k);
        const csr_matrix<double> row = sum.block(k).download();
        std::map<std::int64_t, double> found;
        for (std::size_t j = 0; j < row.values.size(); ++j)
            found[sum.columns_of(k).global(row.column_indices[j])] = row.values[j];
        std::map<std::int64_t, double> expected;
        for (std::size_t j = 0; j < 2; ++j) {
            expected[of_a[std::size_t(k)][j]] += values[j];
            expected[of_b[std::size_t(k)][j]] += 10 * values[j];
        }
        CHECK(found == expected);
    }
}

KRYLITH_GROUP_TEST("distributed sum: what doesn't fit is named") {
    const auto a = poisson2d<double>(4, 5);
    const auto plain = split(group, a);
    CHECK_THROWS_WITH_AS((void)add(1.0, plain, 1.0, split(group, poisson2d<double>(4, 6))),
                         doctest::Contains("different sizes or partitions"), usage_error);
    CHECK_THROWS_WITH_AS((void)add(1.0, plain, 1.0, distributed_csr<double>()),
                         doctest::Contains("is empty"), usage_error);
    CHECK_THROWS_WITH_AS(
        (void)add(1.0, plain, 1.0, split(device_group::host(1, {.host_threads = 1}), a, 0, 1)),
        doctest::Contains("different groups"), usage_error);
    csr_matrix<double> unordered = a;
    std::swap(unordered.column_indices[1], unordered.column_indices[2]);
    CHECK_THROWS_WITH_AS((void)add(1.0, plain, 1.0, split(group, unordered)),
                         doctest::Contains("add: row 0 of B has column 1 after column 4"),
                         input_error);
}

} // namespace krylith
