// Galerkin products against Eigen and the plain product.
#include <cmath>
#include <cstdint>
#include <vector>

#include <Eigen/SparseCore>

#include <krylith/matrix/conversions.hpp>
#include <krylith/matrix/gallery/poisson.hpp>
#include <krylith/sparse/spgemm.hpp>

#include <krylith/tests/sparse/spgemm/spgemm_cases.hpp>
#include <krylith/tests/spmspv/one_device.hpp>

namespace krylith {

using testing::plain_product;
using testing::rows_of_lengths;
using testing::with_values;

namespace {

using eigen_matrix = Eigen::SparseMatrix<double, Eigen::RowMajor, std::int64_t>;

eigen_matrix to_eigen(const csr_matrix<double>& a) {
    eigen_matrix e(a.rows, a.columns);
    std::vector<Eigen::Triplet<double, std::int64_t>> entries;
    for (std::size_t i = 0; i < static_cast<std::size_t>(a.rows); ++i)
        for (auto k = static_cast<std::size_t>(a.row_offsets[i]);
             k < static_cast<std::size_t>(a.row_offsets[i + 1]); ++k)
            entries.emplace_back(static_cast<std::int64_t>(i), a.column_indices[k], a.values[k]);
    e.setFromTriplets(entries.begin(), entries.end());
    return e;
}

struct multigrid_matrices {
    csr_matrix<double> r, a, p;
};

/// A stencil and a prolongation of up to 4 entries a row.
multigrid_matrices stencil_and_transfers() {
    const auto a = poisson3d<double>(10, 9, 8);
    const auto p = rows_of_lengths(
        a.rows, 60, [](std::int64_t i) { return 1 + i % 4; }, 12);
    return {transpose(p), a, p};
}

} // namespace

KRYLITH_DEVICE_TEST("galerkin product: R A P, and again with new values") {
    multigrid_matrices m = stencil_and_transfers();
    device_csr<double> r(device, m.r);
    device_csr<double> a(device, m.a);
    device_csr<double> p(device, m.p);
    galerkin_product<double> product(r, a, p);
    const auto check = [&] {
        const auto ap = plain_product(m.a, m.p);
        CHECK(product.intermediate().download() == ap);
        CHECK(product.result().download() == plain_product(m.r, ap));
    };
    check();
    m = {with_values(m.r, 1), with_values(m.a, 2), with_values(m.p, 3)};
    r.update(m.r.values);
    a.update(m.a.values);
    p.update(m.p.values);
    product.refresh(r, a, p);
    check();
    CHECK(product.bytes() ==
          product.first().bytes() + product.second().bytes() + product.intermediate().bytes());
    CHECK(product.peak_bytes() >= product.first().peak_bytes());
    const auto result = std::move(product).take_result();
    CHECK(result.rows() == 60);
}

KRYLITH_DEVICE_TEST("galerkin product: Eigen's") {
    const multigrid_matrices m = stencil_and_transfers();
    const device_csr<double> r(device, m.r);
    const device_csr<double> a(device, m.a);
    const device_csr<double> p(device, m.p);
    const auto c = galerkin_product<double>(r, a, p).result().download();
    const eigen_matrix expected = to_eigen(m.r) * (to_eigen(m.a) * to_eigen(m.p));
    const eigen_matrix difference = to_eigen(c) - expected;
    CHECK(c.nnz() == expected.nonZeros());
    CHECK(difference.norm() <= 1e-14 * expected.norm());
}

} // namespace krylith
