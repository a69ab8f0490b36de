// Gauss-Seidel: sweeps against dense triangular solves in the order of colours, new values,
// refusals, counts.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/colouring/row_colours.hpp>
#include <krylith/precond/gauss_seidel.hpp>

#include <krylith/tests/precond/applied.hpp>
#include <krylith/tests/precond/spread_matrix.hpp>
#include <krylith/tests/support/dense.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/short_memory.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith {

using testing::applied;
using testing::random_values;
using testing::to_eigen;

namespace {

/// The colours of rows, on one device.
std::vector<std::int32_t> colours_of(const csr_matrix<double>& a) {
    const auto one = device_group::host(1);
    const row_colours found = colour_rows(testing::spread_matrix(one, a));
    std::vector<std::int32_t> colours(static_cast<std::size_t>(a.rows));
    one[0].download(colours.data(), found.of_columns(0), colours.size() * sizeof(std::int32_t));
    return colours;
}

/// M^-1 r by dense solves.
Eigen::VectorXd solved_by_sweeps(const csr_matrix<double>& matrix, const Eigen::VectorXd& r,
                                 const gauss_seidel_options& options) {
    const auto colours = colours_of(matrix);
    const Eigen::MatrixXd a = to_eigen(matrix);
    const Eigen::Index n = a.rows();
    const auto colour = [&](Eigen::Index i) { return colours[static_cast<std::size_t>(i)]; };
    Eigen::MatrixXd lower = Eigen::MatrixXd::Zero(n, n);
    Eigen::MatrixXd upper = Eigen::MatrixXd::Zero(n, n);
    for (Eigen::Index i = 0; i < n; ++i)
        for (Eigen::Index j = 0; j < n; ++j) {
            if (i == j) lower(i, j) = upper(i, j) = a(i, j) / options.omega;
            if (colour(j) < colour(i)) lower(i, j) = a(i, j);
            if (colour(j) > colour(i)) upper(i, j) = a(i, j);
        }
    const Eigen::VectorXd y = lower.fullPivLu().solve(r);
    if (options.sweep == sweep_kind::forward) return y;
    return upper.fullPivLu().solve(
        ((2 / options.omega - 1) * a.diagonal().array() * y.array()).matrix());
}

/// Unsorted rows with repeated columns and a strong diagonal.
csr_matrix<double> dominant(std::int64_t n, int per_row, std::uint64_t seed) {
    return testing::random_matrix(n, per_row, per_row + 1.0, seed);
}

} // namespace

KRYLITH_GROUP_TEST("gauss-seidel: triangular solves in the order of colours") {
    const auto matrix = dominant(70, 4, 5);
    const auto r = random_values<double>(70, 8);
    for (const gauss_seidel_options options :
         {gauss_seidel_options{}, gauss_seidel_options{.omega = 1.4},
          gauss_seidel_options{.omega = 0.7, .sweep = sweep_kind::forward}}) {
        CAPTURE(options.omega);
        const Eigen::VectorXd expected = solved_by_sweeps(matrix, to_eigen(r), options);
        const auto one = make_operator(device_group::host(1), matrix);
        const auto on_one = applied(*one, gauss_seidel<double>(*one, matrix, options), r);
        for (const auto kind : {operators::halo, operators::nz, operators::allgather}) {
            const auto a = make_operator(group, matrix, {.kind = kind});
            const gauss_seidel<double> m(*a, matrix, options);
            CHECK(m.symmetric() == (options.sweep == sweep_kind::symmetric));
            const auto z = applied(*a, m, r);
            CHECK((to_eigen(z) - expected).norm() <= 1e-12 * expected.norm());
            if (group.kind() == backend::host) CHECK(z == on_one);
        }
    }
}

KRYLITH_GROUP_TEST("gauss-seidel: float, and matrices without neighbours") {
    const auto matrix = testing::converted<float>(dominant(50, 3, 6));
    const auto r = random_values<float>(50, 8);
    const auto a = make_operator(group, matrix);
    const Eigen::VectorXd expected = solved_by_sweeps(dominant(50, 3, 6), to_eigen(r), {});
    CHECK((to_eigen(applied(*a, gauss_seidel<float>(*a, matrix), r)) - expected).norm() <=
          1e-5 * expected.norm());

    const auto diagonal = testing::diagonal_matrix({2, -4, 8, 0.5, 1});
    const auto b = make_operator(group, diagonal);
    const gauss_seidel<double> m(*b, diagonal);
    CHECK(m.colours() == 1);
    CHECK(applied(*b, m, std::vector<double>(5, 1.0)) ==
          std::vector<double>{0.5, -0.25, 0.125, 2, 1});
}

KRYLITH_GROUP_TEST("gauss-seidel: update takes new values, or none") {
    const auto first = dominant(50, 4, 1);
    auto second = first;
    for (std::size_t k = 0; k < second.values.size(); ++k)
        second.values[k] *= 1 + 0.1 * static_cast<double>(k % 3);
    auto third = first;
    for (double& v : third.values) v = 0;
    const auto r = random_values<double>(50, 2);
    const auto a = make_operator(group, first);
    gauss_seidel<double> m(*a, first);
    const auto before = applied(*a, m, r);
    m.update(second);
    const auto after = applied(*a, m, r);
    CHECK(after == applied(*a, gauss_seidel<double>(*a, second), r));
    CHECK(after != before);
    CHECK_THROWS_AS(m.update(third), input_error);
    CHECK_THROWS_AS(m.update(testing::laplace_1d(50)), usage_error);
    CHECK(applied(*a, m, r) == after);
}

KRYLITH_GROUP_TEST("gauss-seidel: bad diagonals and options are refused") {
    const auto refuses = [&](const csr_matrix<double>& matrix, const std::string& row) {
        const auto a = make_operator(group, matrix);
        CHECK_THROWS_WITH_AS(gauss_seidel<double>(*a, matrix), doctest::Contains(row.c_str()),
                             input_error);
    };
    refuses(testing::diagonal_matrix({1, 0, 3}), "row 1 ");
    refuses(testing::from_dense({{1, 2}, {3, 0}}), "row 1 ");
    refuses(testing::from_triplets(40, {}), "row 0 ");
    refuses(testing::diagonal_matrix({1, 1, std::nan("")}), "row 2 ");
    const auto matrix = testing::laplace_1d(4);
    const auto a = make_operator(group, matrix);
    for (const double omega : {0.0, 2.0, -1.0, std::nan("")})
        CHECK_THROWS_WITH_AS(gauss_seidel<double>(*a, matrix, {.omega = omega}),
                             doctest::Contains("above 0 and below 2"), usage_error);
    const gauss_seidel<double> forward(*a, matrix, {.sweep = sweep_kind::forward});
    const auto b = testing::make_range_vector(a->layout(), std::vector<double>(4, 1.0));
    auto x = a->make_range_vector();
    CHECK_THROWS_AS((void)cg(*a, b, x, {}, forward), usage_error);
}

KRYLITH_GROUP_TEST("gauss-seidel: cg takes fewer iterations, the same on any number of devices") {
    const auto matrix = poisson2d<double>(40, 40);
    const auto b = random_values<double>(1600, 3);
    const auto iterations = [&](const device_group& on, bool preconditioned) {
        const auto a = make_operator(on, matrix);
        const auto rhs = testing::make_range_vector(a->layout(), b);
        auto x = a->make_range_vector();
        const auto result = preconditioned
                                ? cg(*a, rhs, x, {.rtol = 1e-8}, gauss_seidel<double>(*a, matrix))
                                : cg(*a, rhs, x, {.rtol = 1e-8});
        CHECK(result.converged());
        return result.iterations;
    };
    CHECK(iterations(group, true) == iterations(device_group::host(1), true));
    CHECK(iterations(group, true) < 0.7 * iterations(group, false));
}

KRYLITH_GROUP_TEST("gauss-seidel: extreme entries keep squares in range") {
    auto matrix = testing::laplace_1d(40);
    for (double& v : matrix.values) v *= 1e200;
    const auto a = make_operator(group, matrix);
    const auto b = testing::make_range_vector(a->layout(), std::vector<double>(40, 1e200));
    auto x = a->make_range_vector();
    CHECK(cg(*a, b, x, {.rtol = 1e-8}, gauss_seidel<double>(*a, matrix)).converged());
}

KRYLITH_GROUP_TEST("gauss-seidel: refused memory leaves nothing behind") {
    const auto matrix = dominant(20, 2, 3);
    const auto a = make_operator(group, matrix);
    const auto before = testing::live_bytes(group);
    for (int k = 0;; k += group.size()) { // ranks allocate alike
        testing::short_memory memory(group, k);
        try {
            const gauss_seidel<double> m(*a, matrix);
        } catch (const device_error&) {
            CHECK(testing::live_bytes(group) == before);
            continue;
        }
        CHECK(memory.count() <= k);
        break;
    }
    CHECK(testing::live_bytes(group) == before);
}

} // namespace krylith
