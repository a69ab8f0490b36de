// A matrix in the memory of one device: there and back, new values, errors.
#include <krylith/sparse/device_csr.hpp>

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/device/error.hpp>
#include <krylith/matrix/types/mocked_index_limit.hpp>
#include <krylith/tests/sparse/transpose/pattern_cases.hpp>
#include <krylith/tests/support/groups.hpp>

namespace krylith {

namespace {

csr_matrix<double> small() {
    return {3, 4, {0, 2, 2, 5}, {3, 0, 1, 1, 2}, {1, -2, 3, 4, 5}};
}

std::string message_for(const std::shared_ptr<device>& on, const csr_matrix<double>& a) {
    try {
        const device_csr<double> matrix(on, csr_view<double>(a));
    } catch (const input_error& e) {
        return e.what();
    }
    return {};
}

} // namespace

KRYLITH_GROUP_TEST("device_csr: a matrix comes back as it was, on every device") {
    for (const auto& c : testing::pattern_cases()) {
        CAPTURE(c.name);
        const auto a = testing::matrix_of<double>(c);
        for (int rank = 0; rank < group.size(); ++rank) {
            const device_csr<double> matrix(group.handle(rank), csr_view<double>(a));
            CHECK(matrix.on() == group.handle(rank));
            CHECK(matrix.rows() == a.rows);
            CHECK(matrix.columns() == a.columns);
            CHECK(matrix.nonzeros() == a.nnz());
            CHECK(matrix.bytes() == 8 * (a.rows + 1) + 12 * a.nnz());
            CHECK(matrix.download() == a);
        }
    }
}

KRYLITH_GROUP_TEST("device_csr: fp32, moved, and given as arrays of the device") {
    const csr_matrix<float> a{2, 3, {0, 1, 3}, {2, 0, 2}, {1, 2, 3}};
    device_csr<float> matrix(group.handle(0), csr_view<float>(a));
    const device_csr<float> moved = std::move(matrix);
    CHECK(moved.download() == a);
    CHECK(moved.bytes() == 8 * 3 + 8 * 3);
    const auto& on = group.handle(0);
    const device_csr<float> given(on, 3, {on, std::span<const std::int64_t>(a.row_offsets), "test"},
                                  {on, std::span<const std::int32_t>(a.column_indices), "test"},
                                  {on, std::span<const float>(a.values), "test"});
    CHECK(given.download() == a);
    CHECK(given.view().rows == 2);
    CHECK(given.view().columns == 3);
    CHECK(given.view().nonzeros == 3);
}

KRYLITH_GROUP_TEST("device_csr: new values on the pattern") {
    auto a = small();
    device_csr<double> matrix(group.handle(0), csr_view<double>(a));
    a.values = {9, 8, 7, 6, 5};
    matrix.update(a.values);
    CHECK(matrix.download() == a);
    CHECK_THROWS_WITH_AS(matrix.update(std::vector<double>(4)),
                         "device_csr::update: there are 4 values; the matrix has 5 nonzeros",
                         usage_error);
    CHECK(matrix.download() == a);
}

KRYLITH_GROUP_TEST("device_csr: what is no matrix is refused") {
    const auto& on = group.handle(0);
    CHECK(message_for(on, small()).empty());
    auto descending = small();
    descending.row_offsets = {0, 3, 2, 5};
    CHECK_FALSE(message_for(on, descending).empty());
    auto beyond = small();
    beyond.column_indices[2] = 4;
    CHECK_FALSE(message_for(on, beyond).empty());
    auto negative = small();
    negative.column_indices[2] = -1;
    CHECK_FALSE(message_for(on, negative).empty());
    auto fewer = small();
    fewer.values.pop_back();
    CHECK(message_for(on, fewer) == "device_csr: there are 4 values for 5 column indices");
    CHECK_THROWS_WITH_AS((device_csr<double>{nullptr, csr_view<double>(small())}),
                         "device_csr: the device is null", usage_error);
    CHECK_THROWS_AS((device_csr<double>{on, 4, {}, {}, {}}), usage_error);
    CHECK_THROWS_WITH_AS(
        (device_csr<double>{on, 4, {on, 4, "test"}, {on, 5, "test"}, {on, 6, "test"}}),
        "device_csr: there are 5 column indices and 6 values; a matrix has as many values as "
        "indices",
        usage_error);
    const mocked_index_limit limit(2);
    CHECK_FALSE(message_for(on, small()).empty());
}

} // namespace krylith
