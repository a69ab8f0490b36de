// Products of distributed matrices whose ranks have several drivers.
#include <doctest/doctest.h>

#include <krylith/distributed/distributed_products.hpp>
#include <krylith/distributed/products/exchange_of_ghosts.hpp>
#include <krylith/distributed/products/whole_matrix.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/tests/comm/drivers.hpp>

using namespace krylith;
using krylith::testing::dealt_group;
using krylith::testing::expect_none;
using krylith::testing::with_drivers;

namespace {

/// A matrix, its transposed, its square, and the product R A P of these, on one host.
struct products {
    csr_matrix<double> a, transposed, square, galerkin, transposed_anew;
};

products products_on(const communicator& comm, const csr_matrix<double>& matrix) {
    const row_partition rows = equal_rows(matrix.rows, comm.ranks(), 4);
    distributed_csr<double> a(comm, csr_view<double>(matrix), rows, rows);
    CHECK(a.nonzeros() == static_cast<std::int64_t>(matrix.values.size()));
    CHECK(a.rows_ascend());
    distributed_transposition<double> transposition(a);
    const auto transposed = transposition.apply(a);
    const distributed_spgemm<double> square(a, a);
    distributed_galerkin<double> galerkin(transposed, a, a);
    products found;
    found.a = a.download();
    found.transposed = transposed.download();
    found.square = square.multiply(a, a).download();
    found.galerkin = galerkin.result().download();
    std::vector<double> doubled = matrix.values;
    for (double& value : doubled) value *= 2;
    a.update(doubled);
    found.transposed_anew = transposition.apply(a).download();
    return found;
}

void check_equal(const csr_matrix<double>& a, const csr_matrix<double>& b) {
    CHECK(a.row_offsets == b.row_offsets);
    CHECK(a.column_indices == b.column_indices);
    CHECK(a.values == b.values);
}

} // namespace

KRYLITH_DRIVERS_TEST("drivers: products of distributed matrices have the bits of one driver") {
    const auto matrix = make_gallery<double>("poisson3d:7");
    for (const bool staged : {false, true}) {
        const group_options options{.staged = staged};
        const dealt_group devices = dealt_group::of(kind, {3, 2}, options);
        const products one = products_on(devices.whole, matrix);
        const auto found = testing::found_by_drivers(
            devices.parts, [&](const communicator& comm) { return products_on(comm, matrix); });
        for (const products& of : found) {
            check_equal(of.a, one.a);
            check_equal(of.transposed, one.transposed);
            check_equal(of.square, one.square);
            check_equal(of.galerkin, one.galerkin);
            check_equal(of.transposed_anew, one.transposed_anew);
        }
    }
}

TEST_CASE("drivers: a whole matrix on one rank") {
    const auto matrix = make_gallery<double>("poisson2d:9");
    expect_none(
        with_drivers({device_group::host(1), device_group::host(2)}, [&](const communicator& comm) {
            const row_partition rows = equal_rows(matrix.rows, 3);
            const distributed_csr<double> a(comm, csr_view<double>(matrix), rows, rows);
            const device_csr<double> whole = whole_on(1, a);
            REQUIRE((whole.rows() != 0) == comm.is_local(1));
            if (comm.is_local(1)) check_equal(whole.download(), matrix);
            comm.synchronize_all();
        }));
}
