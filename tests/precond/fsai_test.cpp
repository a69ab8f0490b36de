// FSAI: rows against dense solves, patterns, new values, refusals, counts.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/fsai.hpp>

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

/// A symmetric positive definite matrix whose rows are unsorted and repeat columns.
csr_matrix<double> spd_matrix(std::int64_t n, int per_row, std::uint64_t seed) {
    const auto half = testing::random_matrix(n, per_row, 0, seed);
    csr_matrix<double> result{n, n, {0}, {}, {}};
    std::vector<std::vector<std::pair<std::int32_t, double>>> rows(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (auto k = static_cast<std::size_t>(half.row_offsets[i]);
             k < static_cast<std::size_t>(half.row_offsets[i + 1]); ++k) {
            const auto j = static_cast<std::size_t>(half.column_indices[k]);
            const double v = half.values[k];
            rows[i].emplace_back(static_cast<std::int32_t>(j), v);
            rows[j].emplace_back(static_cast<std::int32_t>(i), v);
            rows[i].emplace_back(static_cast<std::int32_t>(i), std::fabs(v));
            rows[j].emplace_back(static_cast<std::int32_t>(j), std::fabs(v));
        }
    for (std::size_t i = 0; i < rows.size(); ++i) {
        rows[i].emplace_back(static_cast<std::int32_t>(i), 0.5);
        for (const auto& [column, value] : rows[i]) {
            result.column_indices.push_back(column);
            result.values.push_back(value);
        }
        result.row_offsets.push_back(static_cast<std::int64_t>(result.values.size()));
    }
    return result;
}

/// G'G, where G is by dense solves on a pattern, of which the lower triangle and the diagonal
/// count; the largest 31 of `size` where there are more.
Eigen::MatrixXd product_of_factors(const Eigen::MatrixXd& a, const Eigen::MatrixXd& size) {
    Eigen::MatrixXd g = Eigen::MatrixXd::Zero(a.rows(), a.cols());
    for (Eigen::Index i = 0; i < a.rows(); ++i) {
        std::vector<Eigen::Index> p;
        for (Eigen::Index j = 0; j < i; ++j)
            if (size(i, j) != 0) p.push_back(j);
        std::ranges::stable_sort(
            p, [&](Eigen::Index j, Eigen::Index k) { return size(i, j) > size(i, k); });
        if (p.size() > 31) p.resize(31);
        p.push_back(i);
        std::ranges::sort(p);
        const auto count = static_cast<Eigen::Index>(p.size());
        const Eigen::MatrixXd local = a(p, p);
        const Eigen::VectorXd y = local.llt().solve(Eigen::VectorXd::Unit(count, count - 1).eval());
        for (Eigen::Index k = 0; k < count; ++k)
            g(i, p[static_cast<std::size_t>(k)]) = y[k] / std::sqrt(y[count - 1]);
    }
    return g.transpose() * g;
}

} // namespace

KRYLITH_GROUP_TEST("fsai: rows are dense solves on their patterns, on any number of devices") {
    for (const int per_row : {1, 3, 7}) {
        const auto matrix = spd_matrix(70, per_row, 5);
        const Eigen::MatrixXd a = to_eigen(matrix);
        CAPTURE(per_row);
        compare_with_inverse<fsai, double>(group, matrix, product_of_factors(a, a.cwiseAbs()),
                                           fsai_options{}, 1e-10);
        compare_with_inverse<fsai, float>(group, matrix, product_of_factors(a, a.cwiseAbs()),
                                          fsai_options{}, 1e-3);
    }
}

KRYLITH_GROUP_TEST("fsai: rows of more than 32 entries keep the largest") {
    const auto matrix = spd_matrix(60, 40, 6);
    const Eigen::MatrixXd a = to_eigen(matrix);
    compare_with_inverse<fsai, double>(group, matrix, product_of_factors(a, a.cwiseAbs()),
                                       fsai_options{}, 1e-10);
}

KRYLITH_GROUP_TEST("fsai: the pattern of the square, filtered") {
    const auto matrix = spd_matrix(50, 2, 7);
    const Eigen::MatrixXd a = to_eigen(matrix);
    const Eigen::VectorXd s = a.diagonal().cwiseSqrt().cwiseInverse();
    Eigen::MatrixXd size = (s.asDiagonal() * a * s.asDiagonal()).cwiseAbs();
    size = (size.array() < 0.1).select(0.0, size);
    size = (size * size).eval();
    size = (size.array() < 0.1).select(0.0, size);
    compare_with_inverse<fsai, double>(group, matrix, product_of_factors(a, size),
                                       fsai_options{.power = 2, .threshold = 0.1}, 1e-10);
}

KRYLITH_GROUP_TEST("fsai: update takes new values, or none") {
    const auto first = spd_matrix(50, 4, 1);
    auto second = first;
    for (double& v : second.values) v *= 1.75;
    auto third = first;
    for (double& v : third.values) v = -v;
    const auto r = random_values<double>(50, 2);
    const auto a = make_operator(group, first);
    fsai<double> m(*a, first);
    const auto before = applied(*a, m, r);
    m.update(second);
    const auto after = applied(*a, m, r);
    CHECK(after == applied(*a, fsai<double>(*a, second), r));
    CHECK(after != before);
    CHECK_THROWS_AS(m.update(third), input_error);
    CHECK_THROWS_AS(m.update(testing::laplace_1d(50)), usage_error);
    CHECK(applied(*a, m, r) == after);
}

KRYLITH_GROUP_TEST("fsai: what is not positive definite is refused by its row") {
    const auto refuses = [&](const csr_matrix<double>& matrix, const std::string& row) {
        const auto a = make_operator(group, matrix);
        CHECK_THROWS_WITH_AS(fsai<double>(*a, matrix),
                             doctest::Contains(("that " + row + " (").c_str()), input_error);
    };
    refuses(testing::from_dense({{1, 0, 0}, {0, 2, 3}, {0, 3, 4}}), "row 2");
    refuses(testing::diagonal_matrix({1, 0, 3}), "row 1");
    refuses(testing::diagonal_matrix({1, 2, -3}), "row 2");
    refuses(testing::from_triplets(40, {}), "row 0");
    refuses(testing::diagonal_matrix({1, 1, std::nan("")}), "row 2");
    const auto matrix = testing::laplace_1d(4);
    const auto a = make_operator(group, matrix);
    CHECK_THROWS_WITH_AS(fsai<double>(*a, matrix, {.power = 3}), doctest::Contains("1 or 2"),
                         usage_error);
    CHECK_THROWS_WITH_AS(fsai<double>(*a, matrix, {.threshold = -1}), doctest::Contains("0 to 1"),
                         usage_error);
}

KRYLITH_GROUP_TEST("fsai: cg takes fewer iterations, the same on any number of devices") {
    const auto matrix = poisson2d<double>(40, 40);
    const auto b = random_values<double>(1600, 3);
    const auto iterations = [&](const device_group& on, const fsai_options* options) {
        const auto a = make_operator(on, matrix);
        const auto rhs = testing::make_range_vector(a->layout(), b);
        auto x = a->make_range_vector();
        const auto result =
            options == nullptr ? cg(*a, rhs, x, {.rtol = 1e-8})
                               : cg(*a, rhs, x, {.rtol = 1e-8}, fsai<double>(*a, matrix, *options));
        CHECK(result.converged());
        return result.iterations;
    };
    const fsai_options plain;
    const fsai_options square{.power = 2};
    CHECK(iterations(group, &plain) == iterations(device_group::host(1), &plain));
    CHECK(iterations(group, &plain) < 0.7 * iterations(group, nullptr));
    CHECK(iterations(group, &square) < iterations(group, &plain));
}

KRYLITH_GROUP_TEST("fsai: an operator may have an order of rows of its own") {
    const auto matrix = poisson2d<double>(30, 30);
    for (const operator_kind kind : {operators::halo, operators::nz}) {
        operator_options how{.kind = kind};
        how.order = orders::rcm;
        const auto a = make_operator(group, matrix, how);
        const auto b = testing::make_range_vector(a->layout(), random_values<double>(900, 3));
        auto x = a->make_range_vector();
        const auto plain = cg(*a, b, x, {.rtol = 1e-8});
        x.zero();
        const auto found = cg(*a, b, x, {.rtol = 1e-8}, fsai<double>(*a, matrix));
        CHECK(found.converged());
        CHECK(3 * found.iterations < 2 * plain.iterations);
    }
}

KRYLITH_GROUP_TEST("fsai: extreme entries keep squares in range") {
    auto matrix = testing::laplace_1d(40);
    for (double& v : matrix.values) v *= 1e200;
    const auto a = make_operator(group, matrix);
    const auto b = testing::make_range_vector(a->layout(), std::vector<double>(40, 1e200));
    auto x = a->make_range_vector();
    CHECK(cg(*a, b, x, {.rtol = 1e-8}, fsai<double>(*a, matrix)).converged());
}

KRYLITH_GROUP_TEST("fsai: refused memory leaves nothing behind") {
    const auto matrix = poisson2d<double>(4, 4);
    const auto a = make_operator(group, matrix);
    for (const int power : {1, 2}) {
        const auto before = testing::live_bytes(group);
        for (int k = 0;; k += group.size()) { // ranks allocate alike
            testing::short_memory memory(group, k);
            try {
                const fsai<double> m(*a, matrix, {.power = power});
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
