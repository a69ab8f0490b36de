// Transposition on one device, against the plain loop, and new values on a known pattern.
#include <krylith/sparse/transpose.hpp>

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/device/error.hpp>
#include <krylith/tests/sparse/transpose/pattern_cases.hpp>
#include <krylith/tests/support/groups.hpp>

namespace krylith {

namespace {

using testing::matrix_of;
using testing::plain_transposition;

/// The permutation in 64 bits.
std::vector<std::int64_t> places_of(const transposition& order) {
    const permutation_view places = order.places();
    const auto count = static_cast<std::size_t>(order.nonzeros());
    std::vector<std::int64_t> result(count);
    if (count == 0) return result;
    if (places.wide != nullptr) {
        order.on()->download(result.data(), places.wide, count * sizeof(std::int64_t));
        return result;
    }
    std::vector<std::uint32_t> narrow(count);
    order.on()->download(narrow.data(), places.narrow, count * sizeof(std::uint32_t));
    return {narrow.begin(), narrow.end()};
}

template <class T>
void check_transposition(const std::shared_ptr<device>& on, csr_matrix<T> a) {
    const auto [expected, places] = plain_transposition(a);
    device_csr<T> matrix(on, csr_view<T>(a));
    CHECK(transpose(matrix).download() == expected);

    transposition order(matrix);
    CHECK(order.rows() == a.rows);
    CHECK(order.columns() == a.columns);
    CHECK(order.nonzeros() == a.nnz());
    CHECK(places_of(order) == places);
    CHECK(order.apply(matrix).download() == expected);
    device_csr<T> kept = order.take(matrix);
    CHECK(kept.download() == expected);

    for (T& value : a.values) value = 3 - value;
    matrix.update(a.values);
    order.apply(matrix, kept);
    CHECK(kept.download() == plain_transposition(a).first);
}

} // namespace

KRYLITH_GROUP_TEST("transpose: all patterns, with values and as a permutation") {
    for (const auto& c : testing::pattern_cases()) {
        CAPTURE(c.name);
        check_transposition(group.handle(group.size() - 1), matrix_of<double>(c));
    }
}

KRYLITH_GROUP_TEST("transpose: fp32") {
    for (const auto& c : testing::pattern_cases()) {
        CAPTURE(c.name);
        check_transposition(group.handle(0), matrix_of<float>(c));
    }
}

KRYLITH_GROUP_TEST("transpose: twice gives rows in ascending order") {
    const testing::pattern_case mesh{"mesh", 1000, testing::stencil(7, 10, 10, 10)};
    const auto a = matrix_of<double>(mesh);
    for (int rank = 0; rank < group.size(); ++rank) {
        const device_csr<double> matrix(group.handle(rank), csr_view<double>(a));
        CHECK(transpose(transpose(matrix)).download() == a);
        CHECK(matrix.download() == a); // the argument stays
    }
}

KRYLITH_GROUP_TEST("transposition: bytes, with the pattern and without") {
    const auto a = matrix_of<double>({"mesh", 1000, testing::stencil(7, 10, 10, 10)});
    const device_csr<double> matrix(group.handle(0), csr_view<double>(a));
    transposition order(matrix);
    CHECK(order.bytes() == 8 * (a.columns + 1) + 8 * a.nnz());
    CHECK(order.has_pattern());
    (void)order.take(matrix);
    CHECK(order.bytes() == 4 * a.nnz());
    CHECK_FALSE(order.has_pattern());
    CHECK_THROWS_WITH_AS((void)order.apply(matrix),
                         "transposition::apply: take() has given the pattern away", usage_error);
}

KRYLITH_GROUP_TEST("transposition: what does not fit is refused") {
    const auto a = matrix_of<double>({"mesh", 1000, testing::stencil(7, 10, 10, 10)});
    const auto b = matrix_of<double>({"other", 1000, testing::random_pattern(1000, 3, 1000, 1)});
    const device_csr<double> matrix(group.handle(0), csr_view<double>(a));
    device_csr<double> other(group.handle(0), csr_view<double>(b));
    const transposition order(matrix);
    CHECK_THROWS_AS((void)order.apply(other), usage_error);
    CHECK_THROWS_AS(order.apply(matrix, other), usage_error);
    CHECK_THROWS_AS((void)transpose(device_csr<double>()), usage_error);
    CHECK_THROWS_AS(transposition{device_csr<double>()}, usage_error);
    CHECK_THROWS_AS((void)transposition().apply(matrix), usage_error);
    if (group.size() > 1) {
        const device_csr<double> elsewhere(group.handle(1), csr_view<double>(a));
        CHECK_THROWS_WITH_AS(
            (void)order.apply(elsewhere),
            "transposition::apply: the matrix is on another device than the pattern", usage_error);
    }
}

} // namespace krylith
