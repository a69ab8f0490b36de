// SPAI: rows against dense least squares, patterns, new values, refusals, counts.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/spai.hpp>

#include <krylith/tests/precond/applied.hpp>
#include <krylith/tests/precond/dense_inverse.hpp>
#include <krylith/tests/support/dense.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/short_memory.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith {

using testing::applied;
using testing::compare_with_inverse;
using testing::random_values;
using testing::to_eigen;

namespace {

/// An unsymmetric matrix whose rows are unsorted and repeat columns, with a dominant diagonal.
csr_matrix<double> unsymmetric_matrix(std::int64_t n, int per_row, std::uint64_t seed) {
    const auto given = testing::random_matrix(n, per_row, 0, seed);
    csr_matrix<double> result{n, n, {0}, {}, {}};
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
        for (auto k = static_cast<std::size_t>(given.row_offsets[i]);
             k < static_cast<std::size_t>(given.row_offsets[i + 1]); ++k) {
            result.column_indices.push_back(given.column_indices[k]);
            result.values.push_back(given.values[k]);
        }
        for (const double part : {1.5, 0.25 * per_row}) {
            result.column_indices.push_back(static_cast<std::int32_t>(i));
            result.values.push_back(part);
        }
        result.row_offsets.push_back(static_cast<std::int64_t>(result.values.size()));
    }
    return result;
}

/// M by dense least squares on a pattern, the largest 32 of `size` where there are more.
Eigen::MatrixXd inverse_of(const Eigen::MatrixXd& a, const Eigen::MatrixXd& size) {
    Eigen::MatrixXd m = Eigen::MatrixXd::Zero(a.rows(), a.cols());
    for (Eigen::Index i = 0; i < a.rows(); ++i) {
        std::vector<Eigen::Index> p;
        for (Eigen::Index j = 0; j < a.cols(); ++j)
            if (size(i, j) != 0) p.push_back(j);
        std::ranges::stable_sort(
            p, [&](Eigen::Index j, Eigen::Index k) { return size(i, j) > size(i, k); });
        if (p.size() > 32) p.resize(32);
        std::ranges::sort(p);
        const Eigen::MatrixXd local = a(p, Eigen::indexing::all).transpose();
        const Eigen::VectorXd y =
            local.colPivHouseholderQr().solve(Eigen::VectorXd::Unit(a.rows(), i).eval());
        for (std::size_t k = 0; k < p.size(); ++k) m(i, p[k]) = y[static_cast<Eigen::Index>(k)];
    }
    return m;
}

} // namespace

KRYLITH_GROUP_TEST("spai: rows are dense least squares, on any number of devices") {
    for (const int per_row : {1, 3, 7, 14}) {
        const auto matrix = unsymmetric_matrix(70, per_row, 5);
        const Eigen::MatrixXd a = to_eigen(matrix);
        CAPTURE(per_row);
        compare_with_inverse<spai, double>(group, matrix, inverse_of(a, a.cwiseAbs()),
                                           spai_options{}, 1e-10);
        compare_with_inverse<spai, float>(group, matrix, inverse_of(a, a.cwiseAbs()),
                                          spai_options{}, 1e-3);
    }
}

KRYLITH_GROUP_TEST("spai: rows of more than 32 entries keep the largest") {
    const auto matrix = unsymmetric_matrix(60, 50, 6);
    const Eigen::MatrixXd a = to_eigen(matrix);
    compare_with_inverse<spai, double>(group, matrix, inverse_of(a, a.cwiseAbs()), spai_options{},
                                       1e-9);
}

KRYLITH_GROUP_TEST("spai: the pattern of the square, filtered") {
    const auto matrix = unsymmetric_matrix(50, 2, 7);
    const Eigen::MatrixXd a = to_eigen(matrix);
    const Eigen::VectorXd s = a.diagonal().cwiseAbs().cwiseSqrt().cwiseInverse();
    Eigen::MatrixXd size = (s.asDiagonal() * a * s.asDiagonal()).cwiseAbs();
    size = (size.array() < 0.1).select(0.0, size);
    size = (size * size).eval();
    size = (size.array() < 0.1).select(0.0, size);
    compare_with_inverse<spai, double>(group, matrix, inverse_of(a, size),
                                       spai_options{.power = 2, .threshold = 0.1}, 1e-10);
}

KRYLITH_GROUP_TEST("spai: a dense pattern makes the inverse, a zero diagonal is no hindrance") {
    const auto matrix = testing::from_dense({{0, 2, 1}, {3, 0, -1}, {1, 1, 0}});
    const auto a = make_operator(group, matrix);
    const auto z = applied(*a, spai<double>(*a, matrix), {1, 2, 3});
    const Eigen::MatrixXd dense = to_eigen(matrix);
    const Eigen::MatrixXd m = inverse_of(dense, dense.cwiseAbs());
    CHECK((to_eigen(z) - m * Eigen::Vector3d(1, 2, 3)).norm() <= 1e-12);
    const auto full = testing::from_dense({{1, 2, 1}, {3, 1, -1}, {1, 1, 4}});
    const auto b = make_operator(group, full);
    const auto y = applied(*b, spai<double>(*b, full), {1, 2, 3});
    CHECK((to_eigen(full) * to_eigen(y) - Eigen::Vector3d(1, 2, 3)).norm() <= 1e-12);
}

KRYLITH_GROUP_TEST("spai: 1 x 1, and no rows") {
    const auto one = testing::diagonal_matrix({-4});
    const auto a = make_operator(group, one);
    CHECK(applied(*a, spai<double>(*a, one), {2}) == std::vector<double>{-0.5});
    const auto none = testing::from_triplets(0, {});
    const auto b = make_operator(group, none);
    CHECK(spai<double>(*b, none).nonzeros() == 0);
}

KRYLITH_GROUP_TEST("spai: update takes new values, or none") {
    const auto first = unsymmetric_matrix(50, 4, 1);
    auto second = first;
    for (double& v : second.values) v *= 1.75;
    auto third = first;
    for (double& v : third.values) v = 0;
    const auto r = random_values<double>(50, 2);
    const auto a = make_operator(group, first);
    spai<double> m(*a, first);
    const auto before = applied(*a, m, r);
    m.update(second);
    const auto after = applied(*a, m, r);
    CHECK(after == applied(*a, spai<double>(*a, second), r));
    CHECK(after != before);
    CHECK_THROWS_AS(m.update(third), input_error);
    CHECK_THROWS_AS(m.update(testing::laplace_1d(50)), usage_error);
    CHECK(applied(*a, m, r) == after);
}

KRYLITH_GROUP_TEST("spai: rows without a unique solution are refused, and options") {
    const auto refuses = [&](const csr_matrix<double>& matrix, const std::string& row) {
        const auto a = make_operator(group, matrix);
        CHECK_THROWS_WITH_AS(spai<double>(*a, matrix),
                             doctest::Contains(("that " + row + " (").c_str()), input_error);
    };
    refuses(testing::from_dense({{1, 0, 0}, {0, 2, 2}, {0, 2, 2}}), "row 1");
    refuses(testing::from_triplets(40, {}), "row 0");
    refuses(testing::diagonal_matrix({1, 0, 3}), "row 1");
    refuses(testing::diagonal_matrix({1, 1, std::nan("")}), "row 2");
    const auto matrix = testing::laplace_1d(4);
    const auto a = make_operator(group, matrix);
    CHECK_THROWS_WITH_AS(spai<double>(*a, matrix, {.power = 3}), doctest::Contains("1 or 2"),
                         usage_error);
    CHECK_THROWS_WITH_AS(spai<double>(*a, matrix, {.threshold = 2}), doctest::Contains("0 to 1"),
                         usage_error);
    const auto b = testing::make_range_vector(a->layout(), std::vector<double>(4, 1.0));
    auto x = a->make_range_vector();
    CHECK_THROWS_WITH_AS((void)cg(*a, b, x, {}, spai<double>(*a, matrix)),
                         doctest::Contains("spai:power=1 is not symmetric"), usage_error);
}

KRYLITH_GROUP_TEST("spai: gmres takes fewer iterations, the same on any number of devices") {
    const auto matrix = convection_diffusion<double>(12, 20);
    const auto b = random_values<double>(matrix.rows, 3);
    const auto iterations = [&](const device_group& on, const spai_options* options) {
        const auto a = make_operator(on, matrix);
        const auto rhs = testing::make_range_vector(a->layout(), b);
        auto x = a->make_range_vector();
        const solver_options to{.rtol = 1e-8, .restart = 200};
        const auto result = options == nullptr
                                ? gmres(*a, rhs, x, to)
                                : gmres(*a, rhs, x, to, spai<double>(*a, matrix, *options));
        CHECK(result.converged());
        return static_cast<double>(result.iterations);
    };
    const spai_options plain;
    const spai_options square{.power = 2};
    CHECK(iterations(group, &plain) == iterations(device_group::host(1), &plain));
    CHECK(iterations(group, &plain) < 0.7 * iterations(group, nullptr));
    CHECK(iterations(group, &square) < iterations(group, &plain));
}

KRYLITH_GROUP_TEST("spai: refused memory leaves nothing behind") {
    const auto matrix = poisson2d<double>(4, 4);
    const auto a = make_operator(group, matrix);
    for (const int power : {1, 2}) {
        const auto before = testing::live_bytes(group);
        for (int k = 0;; k += group.size()) { // ranks allocate alike
            testing::short_memory memory(group, k);
            try {
                const spai<double> m(*a, matrix, {.power = power});
            } catch (const device_error&) {
                CHECK(testing::live_bytes(group) == before);
                continue;
            }
            CHECK(memory.count() <= k);
            break;
        }
        CHECK(testing::live_bytes(group) == before);
    }
}

} // namespace krylith
