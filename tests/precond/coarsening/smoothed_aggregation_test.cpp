// Aggregates and prolongations against plain loops and dense matrices, on all groups.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>

#include <krylith/tests/precond/coarsening/coarse_spaces.hpp>
#include <krylith/tests/precond/coarsening/plain_aggregates.hpp>
#include <krylith/tests/support/dense.hpp>
#include <krylith/tests/support/groups.hpp>

namespace krylith {

using testing::at;
using testing::coarse_space;
using testing::coarsened_matrices;
using testing::converted;
using testing::make_space;
using testing::to_eigen;
using testing::uneven_vector;

namespace {

/// The aggregate of each row, from P = T.
template <class T>
std::vector<std::int32_t> aggregates_of(const csr_matrix<T>& t) {
    std::vector<std::int32_t> found;
    for (std::int64_t i = 0; i < t.rows; ++i) {
        REQUIRE(t.row_offsets[at(i) + 1] - t.row_offsets[at(i)] <= 1);
        found.push_back(t.row_offsets[at(i) + 1] == t.row_offsets[at(i)]
                            ? -1
                            : t.column_indices[at(t.row_offsets[at(i)])]);
    }
    return found;
}

/// (I - 4 / (3 lambda) D_F^-1 A_F) T, dense. Rows without an aggregate are empty.
template <class T>
Eigen::MatrixXd plain_prolongation(const csr_matrix<T>& a, double theta, const Eigen::MatrixXd& t) {
    Eigen::MatrixXd filtered = to_eigen(a);
    const Eigen::MatrixXd all = filtered;
    double lambda = 1;
    for (Eigen::Index i = 0; i < all.rows(); ++i) {
        double weak = 0;
        for (Eigen::Index j = 0; j < all.cols(); ++j)
            if (i != j && (std::fabs(all(i, j)) < theta * std::sqrt(all(i, i) * all(j, j)))) {
                weak += all(i, j);
                filtered(i, j) = 0;
            }
        filtered(i, i) = std::max(all(i, i) + weak, 0.05 * all(i, i));
        lambda = std::max(lambda, filtered.row(i).cwiseAbs().sum() / filtered(i, i));
    }
    Eigen::MatrixXd p =
        t - 4 / (3 * lambda) * filtered.diagonal().asDiagonal().inverse() * (filtered * t);
    for (Eigen::Index i = 0; i < t.rows(); ++i)
        if (t.row(i).isZero(0)) p.row(i).setZero();
    return p;
}

template <class T>
void check_prolongations(const device_group& group, double tolerance) {
    for (const auto& c : coarsened_matrices()) {
        CAPTURE(c.name);
        const csr_matrix<T> a = converted<T>(c.a);
        const auto v = uneven_vector<T>(a.rows);
        const coarse_space<T> t = make_space(group, a, {.smooth = false}, v);
        const coarse_space<T> p = make_space(group, a, {}, v);
        CHECK(t.near_null == p.near_null);
        if (t.coarse.rows() == 0) {
            CHECK(p.p.nnz() == 0);
            continue;
        }
        const Eigen::MatrixXd dense = to_eigen(t.p);
        for (Eigen::Index g = 0; g < dense.cols(); ++g)
            CHECK(std::fabs(dense.col(g).norm() - 1) <= tolerance);
        Eigen::VectorXd expected = to_eigen(v);
        for (Eigen::Index i = 0; i < dense.rows(); ++i)
            if (dense.row(i).isZero(0)) expected[i] = 0;
        CHECK((dense * to_eigen(t.near_null) - expected).cwiseAbs().maxCoeff() <= tolerance);
        CHECK((to_eigen(p.p) - plain_prolongation(a, 0.02, dense)).cwiseAbs().maxCoeff() <=
              tolerance);
    }
}

} // namespace

KRYLITH_GROUP_TEST("smoothed aggregation: aggregates are those of plain loops") {
    for (const auto& c : coarsened_matrices())
        for (const bool aggressive : {false, true}) {
            CAPTURE(c.name);
            CAPTURE(aggressive);
            const auto expected = testing::find_plain_aggregates(c.a, 0.02, aggressive);
            const auto space = make_space(group, c.a, {.aggressive = aggressive, .smooth = false},
                                          uneven_vector<double>(c.a.rows));
            CHECK(space.coarse.rows() == static_cast<std::int64_t>(expected.roots.size()));
            CHECK(aggregates_of(space.p) == expected.aggregate);
            // An aggregate belongs to the rank that owns its lowest root.
            const row_partition rows = equal_rows(c.a.rows, group.size());
            for (std::int64_t g = 0; g < space.coarse.rows(); ++g)
                CHECK(space.coarse.owner(g) == rows.owner(expected.roots[at(g)]));
        }
}

KRYLITH_GROUP_TEST("smoothed aggregation: the bits of one host device, fp64 and fp32") {
    for (const auto& c : coarsened_matrices())
        for (const aggregation_options options :
             {aggregation_options{}, aggregation_options{.theta = 0.3},
              aggregation_options{.theta = 0.1, .aggressive = true},
              aggregation_options{.boxes = true}}) {
            CAPTURE(c.name);
            const device_group one = device_group::host(1);
            const auto v = uneven_vector<double>(c.a.rows);
            CHECK(make_space(group, c.a, options, v) == make_space(one, c.a, options, v));
            const auto narrow = converted<float>(c.a);
            const auto w = uneven_vector<float>(c.a.rows);
            CHECK(make_space(group, narrow, options, w) == make_space(one, narrow, options, w));
        }
}

KRYLITH_GROUP_TEST("smoothed aggregation: P is (I - 4 / (3 lambda) D^-1 A) T, fp64") {
    check_prolongations<double>(group, 2e-8);
}

KRYLITH_GROUP_TEST("smoothed aggregation: P is (I - 4 / (3 lambda) D^-1 A) T, fp32") {
    check_prolongations<float>(group, 2e-6);
}

KRYLITH_GROUP_TEST("smoothed aggregation: refresh takes new values, and nothing of the old ones") {
    for (const auto& c : coarsened_matrices()) {
        CAPTURE(c.name);
        const row_partition rows = equal_rows(c.a.rows, group.size());
        const distributed_csr<double> a(group, c.a, rows, rows);
        csr_matrix<double> other = c.a;
        for (double& value : other.values) value *= 8;
        const distributed_csr<double> b(group, other, rows, rows);
        auto v = uneven_vector<double>(c.a.rows);
        const testing::spread_vector<double> first(group, rows, v);
        for (std::size_t i = 0; i < v.size(); ++i) v[i] *= i % 2 == 0 ? 3 : -0.5;
        const testing::spread_vector<double> second(group, rows, v);
        smoothed_aggregation<double> aggregates(a, {});
        auto p = aggregates.prolongation(a, first.pointers());
        aggregates.refresh(b, second.pointers(), p);
        CHECK(testing::space_of(group, aggregates, p) == make_space(group, other, {}, v));
        aggregates.refresh(a, first.pointers(), p);
        CHECK(testing::space_of(group, aggregates, p) ==
              make_space(group, c.a, {}, uneven_vector<double>(c.a.rows)));
    }
}

KRYLITH_GROUP_TEST("smoothed aggregation: P v_c = v where A v = 0, and the scale is no matter") {
    csr_matrix<double> a = testing::laplace_1d(60);
    const std::vector<double> ones(60, 1.0);
    const auto space = make_space(group, a, {}, ones);
    const Eigen::VectorXd interpolated = to_eigen(space.p) * to_eigen(space.near_null);
    for (Eigen::Index i = 1; i + 1 < 60; ++i) CHECK(std::fabs(interpolated[i] - 1) < 1e-9);
    for (const double scale : {0x1p-120, 0x1p120}) {
        csr_matrix<float> narrow = converted<float>(a);
        for (float& value : narrow.values) value *= static_cast<float>(scale);
        const auto scaled = make_space(group, narrow, {}, std::vector<float>(60, 1.0f));
        CHECK(scaled == make_space(group, converted<float>(a), {}, std::vector<float>(60, 1.0f)));
    }
}

TEST_CASE("smoothed aggregation: matrices and options that it refuses") {
    const device_group group = device_group::host(2);
    const csr_matrix<double> a = testing::laplace_1d(10);
    const row_partition rows = equal_rows(10, 2);
    const distributed_csr<double> good(group, a, rows, rows);
    CHECK_THROWS_AS(smoothed_aggregation<double>(good, {.theta = -0.1}), usage_error);
    CHECK_THROWS_AS(smoothed_aggregation<double>(good, {.theta = 1}), usage_error);
    const distributed_csr<double> uneven(group, a, rows, row_partition{{0, 3, 10}});
    CHECK_THROWS_AS(smoothed_aggregation<double>(uneven, {}), usage_error);
    smoothed_aggregation<double> aggregates(good, {});
    const testing::spread_vector<double> v(group, rows, std::vector<double>(10, 1.0));
    CHECK_THROWS_AS(static_cast<void>(aggregates.prolongation(good, v.pointers().first(1))),
                    usage_error);
    const distributed_csr<double> other(group, testing::diagonal_matrix(std::vector(10, 1.0)), rows,
                                        rows);
    CHECK_THROWS_AS(static_cast<void>(aggregates.prolongation(other, v.pointers())), usage_error);
}

} // namespace krylith
