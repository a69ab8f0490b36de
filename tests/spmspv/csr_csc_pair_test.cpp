// Matrices by rows and by columns: both agree, for any range of rows and any order of entries.
#include <cstdint>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/conversions.hpp>
#include <krylith/matrix/types/mocked_index_limit.hpp>
#include <krylith/spmspv/csr_csc_pair.hpp>
#include <krylith/spmspv/kernels/host_ranges.hpp>

#include <krylith/tests/spmspv/one_device.hpp>
#include <krylith/tests/spmspv/product_cases.hpp>

namespace krylith::spmspv {

namespace {

template <class U>
std::vector<U> downloaded(const std::shared_ptr<device>& device, const U* from,
                          std::int64_t count) {
    std::vector<U> values(as_size(count));
    if (count != 0) device->download(values.data(), from, values.size() * sizeof(U));
    return values;
}

template <class T>
csr_matrix<T> downloaded(const std::shared_ptr<device>& device,
                         const compressed_view<T>& major_size) {
    csr_matrix<T> a;
    a.rows = major_size.major_size;
    a.columns = major_size.across;
    const auto offsets =
        downloaded(device, major_size.offsets, std::int64_t{major_size.major_size} + 1);
    a.row_offsets.assign(offsets.begin(), offsets.end());
    a.column_indices = downloaded(device, major_size.indices, major_size.nonzeros);
    a.values = downloaded(device, major_size.values, major_size.nonzeros);
    return a;
}

template <class T>
csr_matrix<T> slice(const csr_matrix<T>& a, std::int64_t first, std::int64_t end) {
    csr_matrix<T> rows;
    rows.rows = end - first;
    rows.columns = a.columns;
    const auto begin = a.row_offsets[as_size(first)];
    for (std::int64_t row = first; row < end; ++row)
        rows.row_offsets.push_back(a.row_offsets[as_size(row) + 1] - begin);
    const auto stop = a.row_offsets[as_size(end)];
    rows.column_indices.assign(a.column_indices.begin() + begin, a.column_indices.begin() + stop);
    rows.values.assign(a.values.begin() + begin, a.values.begin() + stop);
    return rows;
}

template <class T>
void check(const std::shared_ptr<device>& device, const csr_matrix<T>& a, std::int64_t first,
           std::int64_t end) {
    CAPTURE(first);
    CAPTURE(end);
    const csr_csc_pair<T> both(device, a, first, end);
    const csr_matrix<T> rows = slice(a, first, end);
    CHECK(both.rows() == rows.rows);
    CHECK(both.columns() == rows.columns);
    CHECK(both.nonzeros() == rows.nnz());
    CHECK(downloaded(device, both.by_rows()) == rows);
    CHECK(downloaded(device, both.by_columns()) == transpose(rows));
}

} // namespace

KRYLITH_DEVICE_TEST("csr_csc pairs: rows and columns agree") {
    const host::mocked_thread_worth worth(8);
    for (const auto& p : testing::small_patterns()) {
        CAPTURE(p.name);
        const auto a = testing::with_values<double>(p, false, 41);
        const auto narrow = testing::with_values<float>(p, false, 41);
        check(device, a, 0, a.rows);
        check(device, narrow, 0, a.rows);
        check(device, a, a.rows / 3, a.rows);
        check(device, a, a.rows / 3, 2 * a.rows / 3);
        check(device, a, a.rows, a.rows);
    }
}

KRYLITH_DEVICE_TEST("csr_csc pairs: large, with a full row and a full column") {
    const auto a = testing::with_values<double>(testing::with_giants(3000, 500, 30, 42), false, 43);
    check(device, a, 0, a.rows);
    check(device, a, 900, 1100);
}

KRYLITH_DEVICE_TEST("csr_csc pairs: rows in any order, with entries of one place") {
    const csr_matrix<double> a = {3, 4, {0, 3, 3, 7}, {2, 0, 2, 3, 1, 0, 1}, {1, 2, 4, 5, 6, 7, 8}};
    const csr_matrix<double> sorted = {3, 4, {0, 2, 2, 5}, {0, 2, 0, 1, 3}, {2, 5, 7, 14, 5}};
    const csr_csc_pair<double> both(device, a);
    CHECK(downloaded(device, both.by_rows()) == sorted);
    CHECK(downloaded(device, both.by_columns()) == transpose(sorted));
    CHECK(both.nonzeros() == 5);
    const csr_csc_pair<double> last(device, a, 2, 3);
    CHECK(downloaded(device, last.by_rows()) == slice(sorted, 2, 3));
}

KRYLITH_DEVICE_TEST("csr_csc pairs: what is refused") {
    const auto a = testing::with_values<double>(testing::random_places(20, 30, 20, 44), false, 45);
    CHECK_THROWS_WITH_AS((void)csr_csc_pair<double>(device, a, 4, 21),
                         "csr_csc_pair: rows [4, 21) of a matrix of 20 rows were asked for",
                         usage_error);
    CHECK_THROWS_AS((void)csr_csc_pair<double>(device, a, -1, 2), usage_error);
    CHECK_THROWS_AS((void)csr_csc_pair<double>(device, a, 3, 2), usage_error);
    {
        const mocked_index_limit limit(a.nnz() - 1);
        CHECK_THROWS_WITH_AS((void)csr_csc_pair<double>(device, a),
                             doctest::Contains("the number of nonzeros of a device is"),
                             input_error);
        (void)csr_csc_pair<double>(device, a, 0, 10); // a part of it
    }
    const mocked_index_limit limit(29);
    CHECK_THROWS_WITH_AS((void)csr_csc_pair<double>(device, a, 0, 0),
                         "csr_csc_pair: the number of columns is 30, allowed are 0 to 29",
                         input_error);
    const mocked_index_limit less(19);
    CHECK_THROWS_WITH_AS((void)csr_csc_pair<double>(device, a),
                         "csr_csc_pair: the number of rows of a device is 20, allowed are 0 to 19",
                         input_error);
}

} // namespace krylith::spmspv
