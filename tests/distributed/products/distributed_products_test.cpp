// Products over the devices of a group have the bits of those on one device, and new values on
// known patterns give what a product anew gives.
#include <krylith/distributed/distributed_products.hpp>

#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/device/error.hpp>
#include <krylith/matrix/conversions.hpp>
#include <krylith/matrix/gallery/poisson.hpp>

#include <krylith/tests/distributed/products/split_rows.hpp>
#include <krylith/tests/matrix/support/message_of.hpp>
#include <krylith/tests/sparse/spgemm/spgemm_cases.hpp>
#include <krylith/tests/support/groups.hpp>

namespace krylith {

namespace {

using testing::as_type;
using testing::plain_product;
using testing::split;
using testing::uneven_rows;
using testing::with_values;

/// Enqueues other values of a matrix of the host with the same pattern.
template <class T>
void give_values(distributed_csr<T>& to, const csr_matrix<T>& a) {
    for (int rank = 0; rank < to.comm().ranks(); ++rank) {
        const row_range mine = to.row_owners().owned(rank);
        const std::int64_t begin = a.row_offsets[static_cast<std::size_t>(mine.begin)];
        const std::int64_t end = a.row_offsets[static_cast<std::size_t>(mine.end)];
        to.block(rank).update(std::span<const T>(a.values).subspan(
            static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
    }
}

template <class T>
void check_matrix_product(const device_group& group, const csr_matrix<T>& a,
                          const csr_matrix<T>& b) {
    auto da = split(group, a, 0, 1);
    auto db = split(group, b, 1, 2);
    const distributed_spgemm<T> plan(da, db);
    auto c = plan.multiply(da, db);
    CHECK(c.row_owners() == da.row_owners());
    CHECK(c.column_owners() == db.column_owners());
    CHECK(c.download() == plain_product(a, b));

    const auto a2 = as_type<T>(with_values(as_type<double>(a), 5));
    const auto b2 = as_type<T>(with_values(as_type<double>(b), 6));
    give_values(da, a2);
    give_values(db, b2);
    plan.refresh(da, db, c);
    give_values(da, a); // no wait: what follows a product must not reach it
    give_values(db, b);
    CHECK(c.download() == plain_product(a2, b2));
    CHECK(plan.multiply(da, db).download() == plain_product(a, b));

    distributed_spgemm<T> given(da, db);
    auto taken = given.take(da, db);
    CHECK(taken.download() == plain_product(a, b));
    CHECK(given.bytes() <= plan.bytes());
    give_values(da, a2);
    give_values(db, b2);
    given.refresh(da, db, taken);
    CHECK(taken.download() == plain_product(a2, b2));
    CHECK_THROWS_WITH_AS((void)given.multiply(da, db),
                         doctest::Contains("take() has given the pattern away"), usage_error);
    CHECK_THROWS_AS((void)given.take(da, db), usage_error);

    distributed_csr<T> made; // of the values that a and b have now
    const distributed_spgemm<T> at_once(da, db, made);
    CHECK(made.download() == plain_product(a2, b2));
    CHECK(made.row_owners() == da.row_owners());
    CHECK(made.column_owners() == db.column_owners());
    CHECK(at_once.bytes() <= given.bytes());
    give_values(da, a);
    give_values(db, b);
    at_once.refresh(da, db, made);
    CHECK(made.download() == plain_product(a, b));
}

/// Sorted rows, with the entries of a place added up in their order.
csr_matrix<double> plainly_sorted(const csr_matrix<double>& a) {
    csr_matrix<double> result{a.rows, a.columns, {0}, {}, {}};
    for (std::size_t i = 0; i < static_cast<std::size_t>(a.rows); ++i) {
        std::map<std::int32_t, double> row;
        for (auto k = static_cast<std::size_t>(a.row_offsets[i]);
             k < static_cast<std::size_t>(a.row_offsets[i + 1]); ++k)
            row[a.column_indices[k]] += a.values[k];
        for (const auto& [column, value] : row) {
            result.column_indices.push_back(column);
            result.values.push_back(value);
        }
        result.row_offsets.push_back(result.nnz());
    }
    return result;
}

} // namespace

KRYLITH_GROUP_TEST("distributed spgemm: all cases, with new values, in either precision") {
    for (const auto& c : testing::spgemm_cases()) {
        CAPTURE(c.surfaces);
        check_matrix_product<double>(group, c.a, c.b);
    }
    const auto a = as_type<float>(testing::spgemm_cases().back().a);
    check_matrix_product<float>(group, a, a);
}

KRYLITH_GROUP_TEST("distributed spgemm: products of products, whose ghosts nothing may refer to") {
    const auto a = poisson3d<double>(7, 6, 5);
    const row_partition rows = uneven_rows(a.rows, group.size());
    const distributed_csr<double> da(group, csr_view<double>(a), rows, rows);
    const auto square = distributed_spgemm<double>(da, da).multiply(da, da);
    CHECK(square.rows_ascend());
    const auto cube = distributed_spgemm<double>(square, da).multiply(square, da);
    const auto fourth = distributed_spgemm<double>(square, square).multiply(square, square);
    const auto plain = plain_product(a, a);
    CHECK(cube.download() == plain_product(plain, a));
    CHECK(fourth.download() == plain_product(plain, plain));
    CHECK(transpose(square).download() == transpose(plain));
}

KRYLITH_GROUP_TEST("distributed spgemm: what doesn't fit is named") {
    const auto a = poisson3d<double>(4, 4, 4);
    const auto da = split(group, a, 0, 0);
    const auto other = split(group, a, 1, 1);
    CHECK_THROWS_AS(distributed_spgemm<double>(da, distributed_csr<double>()), usage_error);
    const csr_matrix<double> narrow{64, 3, std::vector<std::int64_t>(65), {}, {}};
    const auto dn = split(group, narrow, 0, 0);
    CHECK(test::message_of<error>([&] {
              distributed_spgemm<double>(dn, da);
          }).find("A has 3 columns and B 64 rows") != std::string::npos);
    if (group.size() > 1 && other.row_owners() != da.column_owners())
        CHECK(test::message_of<error>([&] {
                  distributed_spgemm<double>(da, other);
              }).find("partitioned in another way") != std::string::npos);
    const device_group another = device_group::host(group.size());
    const auto elsewhere = split(another, a, 0, 0);
    CHECK(test::message_of<error>([&] {
              distributed_spgemm<double>(da, elsewhere);
          }).find("on different groups") != std::string::npos);

    csr_matrix<double> wrong = a;
    const auto k = static_cast<std::size_t>(a.row_offsets[40]);
    std::swap(wrong.column_indices[k], wrong.column_indices[k + 1]);
    const auto dw = split(group, wrong, 0, 0);
    CHECK(test::message_of<error>([&] { distributed_spgemm<double>(da, dw); })
              .find("row 40 of B has column " + std::to_string(a.column_indices[k]) +
                    " after column " + std::to_string(a.column_indices[k + 1])) !=
          std::string::npos);

    const distributed_spgemm<double> plan(da, da);
    CHECK_THROWS_AS((void)plan.multiply(da, dn), usage_error);
    const csr_matrix<double> none{64, 64, std::vector<std::int64_t>(65), {}, {}};
    const auto dz = split(group, none, 0, 0);
    CHECK(test::message_of<error>([&] { (void)plan.multiply(dz, da); }).find("A has 0 nonzeros") !=
          std::string::npos);
    auto c = split(group, none, 0, 0);
    CHECK_THROWS_AS(plan.refresh(da, da, c), usage_error);
}

KRYLITH_GROUP_TEST("distributed galerkin: R A P, and again with new values") {
    const auto a = poisson3d<double>(10, 9, 8);
    const auto p = testing::rows_of_lengths(
        a.rows, 60, [](std::int64_t i) { return 1 + i % 4; }, 12);
    const row_partition fine = uneven_rows(a.rows, group.size());
    const row_partition coarse = uneven_rows(p.columns, group.size(), 1);
    distributed_csr<double> da(group, csr_view<double>(a), fine, fine);
    distributed_csr<double> dp(group, csr_view<double>(p), fine, coarse);
    distributed_transposition<double> order(dp);
    auto dr = order.take(dp);
    distributed_galerkin<double> product(dr, da, dp);
    const auto check = [&](const csr_matrix<double>& of_a, const csr_matrix<double>& of_p,
                           const distributed_csr<double>& c) {
        const auto ap = plain_product(of_a, of_p);
        CHECK(product.intermediate().download() == ap);
        CHECK(c.download() == plain_product(transpose(of_p), ap));
    };
    check(a, p, product.result());
    CHECK(product.bytes() > 0);

    const auto a2 = with_values(a, 3);
    const auto p2 = with_values(p, 4);
    give_values(da, a2);
    give_values(dp, p2);
    order.apply(dp, dr);
    product.refresh(dr, da, dp);
    check(a2, p2, product.result());

    distributed_csr<double> taken = product.take_result();
    CHECK(product.result().row_owners().ranks() == 0);
    give_values(da, a);
    product.refresh(dr, da, dp, taken);
    check(a, p2, taken);
    CHECK_THROWS_AS(product.refresh(dr, da, dp), usage_error);
}

KRYLITH_GROUP_TEST("distributed galerkin: as the documentation shows it") {
    const auto fine = poisson3d<double>(5, 5, 5);
    const auto a = split(group, fine, 0, 0);
    const auto p = split(group, fine, 0, 0);
    distributed_transposition<double> order(p);
    distributed_csr<double> r = order.take(p);
    distributed_galerkin<double> coarse(r, a, p); // coarse.result() is R A P
    CHECK(coarse.result().download() == plain_product(fine, plain_product(fine, fine)));
}

KRYLITH_GROUP_TEST("sorted rows: ascending columns, entries of a place added up in their order") {
    for (const auto& c : testing::spgemm_cases()) {
        CAPTURE(c.surfaces);
        auto a = split(group, c.a);
        const sorted_rows<double> order(a);
        auto sorted = order.apply(a);
        CHECK(sorted.rows_ascend());
        CHECK(sorted.download() == plainly_sorted(c.a));
        const auto other = with_values(c.a, 8);
        give_values(a, other);
        order.apply(a, sorted);
        CHECK(sorted.download() == plainly_sorted(other));
    }
    CHECK_THROWS_AS(sorted_rows<double>(distributed_csr<double>()), usage_error);
}

} // namespace krylith
