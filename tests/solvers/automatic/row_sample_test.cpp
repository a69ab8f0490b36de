// What a sample of rows shows: whether Jacobi will do, convection with diffusion, nodes.
#include <limits>
#include <stdexcept>

#include <doctest/doctest.h>

#include <krylith/distributed/distributed_csr.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/solvers/automatic/row_sample.hpp>

#include <krylith/tests/comm/drivers.hpp>
#include <krylith/tests/support/matrices.hpp>

namespace krylith {

using testing::from_dense;
using testing::from_triplets;

namespace {

row_sample sample_of(const csr_matrix<double>& matrix) {
    return sample_rows(csr_view<double>(matrix));
}

} // namespace

TEST_CASE("row sample: convection with diffusion by upwind differences, in any units") {
    for (const double peclet : {0.0, 100.0, 1000.0}) {
        CAPTURE(peclet);
        const row_sample flow = sample_of(convection_diffusion<double>(12, peclet));
        CHECK(flow.rows == 256);
        CHECK(flow.dominant == 256);
        CHECK(flow.positive == 0);
        CHECK(flow.largest_sum == doctest::Approx(1)); // of rows inside
        CHECK(flow.like_transport());
        CHECK_FALSE(flow.easy());
    }
    CHECK(sample_of(convection_diffusion<double>(12, 100, random_scaling{3})).like_transport());
    // Entries of the diagonal's sign, and a diagonal smaller than its row.
    auto turned = convection_diffusion<double>(12, 100);
    for (double& value : turned.values)
        if (value < -1.5) value = -value;
    CHECK_FALSE(sample_of(turned).like_transport());
    CHECK_FALSE(sample_of(helmholtz2d<double>(20, 30)).like_transport());
}

TEST_CASE("row sample: large diagonals are easy, whatever the sign") {
    auto matrix = poisson3d<double>(8);
    CHECK_FALSE(sample_of(matrix).easy());
    for (double& value : matrix.values)
        if (value > 0) value = -7;
    CHECK(sample_of(matrix).easy());
    CHECK(sample_of(from_dense({{5}})).easy());
}

TEST_CASE("row sample: a beam is no transport") {
    CHECK_FALSE(sample_of(make_gallery<double>("elasticity3d:6:4:4")).like_transport());
}

TEST_CASE("row sample: no rows, empty rows, zeros on the diagonal, full rows, what isn't finite") {
    const row_sample none = sample_of(from_triplets(0, {}));
    CHECK(none.rows == 0);
    CHECK_FALSE((none.easy() || none.like_transport()));
    for (const auto& hopeless :
         {from_triplets(9, {}), from_dense({{0, 1}, {1, 0}}), from_dense({{0, 1}, {1, 5}})}) {
        const row_sample sample = sample_of(hopeless);
        CHECK(sample.largest_sum == std::numeric_limits<double>::infinity());
        CHECK_FALSE((sample.easy() || sample.like_transport()));
    }
    testing::triplets entries;
    for (std::int64_t i = 0; i < 2000; ++i) {
        entries.emplace_back(i, i, 1e6);
        if (i != 0) entries.emplace_back(0, i, -1.0);
    }
    const auto full = from_triplets(2000, entries);
    CHECK_FALSE(sample_rows(csr_view<double>(full), 2000).easy()); // row 0 is too long to tell
    CHECK(sample_rows(csr_view<double>(full), 2000).like_transport());
    const double nan = std::numeric_limits<double>::quiet_NaN();
    CHECK_FALSE(sample_of(from_dense({{nan, 1}, {1, 5}})).easy());
    CHECK_FALSE(sample_of(from_dense({{5, nan}, {1, 5}})).easy());
}

TEST_CASE("row sample: unsorted columns, and a diagonal in two entries") {
    csr_matrix<double> matrix{2, 2, {0, 3, 5}, {1, 0, 0}, {}};
    matrix.column_indices = {1, 0, 0, 1, 0};
    matrix.values = {-1, 1, 1, 2, -1};
    const row_sample sample = sample_of(matrix);
    CHECK(sample.largest_sum == doctest::Approx(0.5));
    CHECK(sample.dominant == 2);
}

TEST_CASE("row sample: entries at one place add up, also where they cancel") {
    csr_matrix<double> matrix{2, 2, {0, 4, 6}, {1, 0, 1, 1}, {}};
    matrix.column_indices = {1, 0, 1, 1, 1, 0};
    matrix.values = {64, 2, -100, 35, 2, -1};
    const row_sample sample = sample_of(matrix); // {{2, -1}, {-1, 2}}
    CHECK(sample.largest_sum == doctest::Approx(0.5));
    CHECK(sample.off_diagonal == doctest::Approx(1));
    CHECK(sample.positive == 0);
    CHECK(sample.dominant == 2);
}

TEST_CASE("row sample: the same of rows that several drivers have") {
    for (const char* name : {"convection_diffusion:30:100", "poisson3d:4:random=1", "kron:11",
                             "poisson1d:2", "fullchip:3000"}) {
        CAPTURE(name);
        const auto matrix = make_gallery<double>(name);
        const row_sample expected = sample_of(matrix);
        testing::expect_none(testing::with_drivers(
            {device_group::host(2), device_group::host(1)}, [&](const communicator& comm) {
                const auto rows = equal_rows(matrix.rows, comm.ranks());
                const row_sample found =
                    sample_rows(distributed_csr<double>(comm, matrix, rows, rows));
                if (found.rows != expected.rows || found.dominant != expected.dominant ||
                    found.largest_sum != expected.largest_sum ||
                    found.off_diagonal != expected.off_diagonal ||
                    found.positive != expected.positive)
                    throw std::runtime_error("another sample");
            }));
    }
}

} // namespace krylith
