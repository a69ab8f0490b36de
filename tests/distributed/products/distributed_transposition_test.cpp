// Transposes over the devices of a group have the bits of those on one device.
#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/device/error.hpp>
#include <krylith/distributed/distributed_products.hpp>

#include <krylith/tests/distributed/products/split_rows.hpp>
#include <krylith/tests/sparse/transpose/pattern_cases.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/short_memory.hpp>

namespace krylith {

using testing::matrix_of;
using testing::plain_transposition;
using testing::split;

namespace {

/// Enqueues new values: those of the matrix in the opposite order.
template <class T>
csr_matrix<T> turn_values(csr_matrix<T> a, distributed_csr<T>& to) {
    std::reverse(a.values.begin(), a.values.end());
    for (int rank = 0; rank < to.comm().ranks(); ++rank) {
        const row_range mine = to.row_owners().owned(rank);
        const auto begin =
            static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(mine.begin)]);
        const auto end =
            static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(mine.end)]);
        to.block(rank).update(std::span<const T>(a.values).subspan(begin, end - begin));
    }
    return a;
}

template <class T>
void check_transposition(const device_group& group, const csr_matrix<T>& a) {
    auto matrix = split(group, a);
    const auto expected = plain_transposition(a).first;
    distributed_transposition<T> order(matrix);
    const auto copy = order.apply(matrix);
    CHECK(copy.row_owners() == matrix.column_owners());
    CHECK(copy.column_owners() == matrix.row_owners());
    CHECK(copy.download() == expected);
    auto taken = order.take(matrix);
    CHECK(taken.download() == expected);
    CHECK_THROWS_AS((void)order.apply(matrix), usage_error);
    CHECK_THROWS_AS((void)order.take(matrix), usage_error);

    const auto other = turn_values(a, matrix);
    order.apply(matrix, taken);
    (void)turn_values(other, matrix); // no wait: what follows must not reach the transposed
    CHECK(taken.download() == plain_transposition(other).first);
    CHECK(copy.download() == expected);
    CHECK(transpose(transpose(matrix)).download() ==
          plain_transposition(plain_transposition(a).first).first);
}

} // namespace

KRYLITH_GROUP_TEST("distributed transposition: all patterns, with new values") {
    for (const auto& c : testing::pattern_cases()) {
        CAPTURE(c.name);
        check_transposition(group, matrix_of<double>(c));
    }
}

KRYLITH_GROUP_TEST("distributed transposition: fp32") {
    for (const auto& c : testing::pattern_cases()) {
        CAPTURE(c.name);
        check_transposition(group, matrix_of<float>(c));
    }
}

KRYLITH_GROUP_TEST("distributed transposition: other matrices than the plan's are refused") {
    const csr_matrix<double> a{3, 4, {0, 2, 2, 3}, {0, 3, 1}, {1, 2, 3}};
    const csr_matrix<double> b{3, 4, {0, 1, 2, 2}, {0, 3}, {1, 2}};
    const auto da = split(group, a);
    const auto db = split(group, b);
    distributed_transposition<double> order(da);
    CHECK_THROWS_AS((void)order.apply(db), usage_error);
    auto wrong = distributed_transposition<double>(db).take(db);
    CHECK_THROWS_AS(order.apply(da, wrong), usage_error);
    CHECK_THROWS_AS(distributed_transposition<double>(distributed_csr<double>()), usage_error);
}

KRYLITH_GROUP_TEST(
    "distributed products: memory that runs out anywhere is reported, none is lost") {
    csr_matrix<double> a{60, 60, {0}, {}, {}};
    for (int i = 0; i < 60; ++i) {
        for (const int j : {i / 2, 30 + i / 2}) {
            a.column_indices.push_back(j);
            a.values.push_back(i + j);
        }
        a.row_offsets.push_back(a.nnz());
    }
    const auto work = [&] {
        const auto da = split(group, a, 0, 0);
        const auto r = transpose(da);
        const distributed_galerkin<double> product(r, da, da);
        return product.result().download();
    };
    const auto before = testing::live_bytes(group);
    const auto expected = work();
    for (int k = 0;; ++k) {
        bool refused = false;
        {
            const testing::short_memory memory(group, k);
            try {
                CHECK(work() == expected);
            } catch (const device_error&) {
                refused = true;
            }
        }
        CHECK(testing::live_bytes(group) == before);
        if (!refused) break;
    }
}

} // namespace krylith
