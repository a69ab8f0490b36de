// Block Jacobi: its definition against dense solves, natural blocks, cuts, new values, refusals.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/block_jacobi.hpp>

#include <krylith/tests/precond/applied.hpp>
#include <krylith/tests/support/dense.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/short_memory.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith {

using testing::applied;
using testing::from_dense;
using testing::random_values;
using testing::to_eigen;

namespace {

/// The same by dense solves.
Eigen::VectorXd solved_by_blocks(const Eigen::MatrixXd& a, const Eigen::VectorXd& r, int size) {
    Eigen::VectorXd z(r.size());
    for (Eigen::Index first = 0; first < r.size(); first += size) {
        const Eigen::Index rows = std::min<Eigen::Index>(size, r.size() - first);
        z.segment(first, rows) =
            a.block(first, first, rows, rows).fullPivLu().solve(r.segment(first, rows));
    }
    return z;
}

template <class T>
void solves_with_blocks(const device_group& group, double tolerance) {
    const auto matrix = testing::converted<T>(testing::random_matrix(75, 9, 2.5, 5));
    const auto r = random_values<T>(75, 8);
    for (const int size : {1, 2, 3, 5, 8, 9, 32}) {
        CAPTURE(size);
        const Eigen::VectorXd expected = solved_by_blocks(to_eigen(matrix), to_eigen(r), size);
        for (const auto kind : {operators::halo, operators::nz, operators::allgather}) {
            const auto a = make_operator(group, matrix, {.kind = kind});
            const block_jacobi<T> m(*a, matrix, {.block_size = size});
            CHECK(m.blocks() == (75 + size - 1) / size);
            CHECK(m.largest_block() == size);
            const auto z = applied(*a, m, r);
            CHECK((to_eigen(z) - expected).norm() <= tolerance * expected.norm());
            if (group.kind() == backend::cuda) continue;
            const auto one = make_operator(device_group::host(1), matrix);
            CHECK(z == applied(*one, block_jacobi<T>(*one, matrix, {.block_size = size}), r));
        }
    }
}

/// Node i has rows 3 i to 3 i + 2, which couple to all rows of the neighbouring nodes.
csr_matrix<double> node_matrix(int nodes) {
    testing::triplets entries;
    for (int i = 0; i < nodes; ++i)
        for (int j = std::max(0, i - 1); j <= std::min(nodes - 1, i + 1); ++j)
            for (int p = 0; p < 3; ++p)
                for (int q = 0; q < 3; ++q)
                    entries.push_back({3 * i + p, 3 * j + q,
                                       i == j ? (p == q ? 4.0 + p : 1.0) : -0.3 / (1 + p + q)});
    return testing::from_triplets(3 * nodes, entries);
}

} // namespace

KRYLITH_GROUP_TEST("block-jacobi: solves with the blocks, the same on any number of devices") {
    solves_with_blocks<double>(group, 1e-11);
    solves_with_blocks<float>(group, 1e-3);
}

KRYLITH_GROUP_TEST("block-jacobi: natural blocks are runs of equal patterns") {
    const auto matrix = node_matrix(20);
    const auto r = random_values<double>(60, 9);
    const auto a = make_operator(group, matrix);
    const block_jacobi<double> m(*a, matrix);
    CHECK(m.blocks() == 20);
    CHECK(m.largest_block() == 3);
    CHECK(m.name() == "block-jacobi:block_size=0");
    CHECK(
        (to_eigen(applied(*a, m, r)) - solved_by_blocks(to_eigen(matrix), to_eigen(r), 3)).norm() <=
        1e-12);

    const auto laplace = testing::laplace_1d(50);
    const auto b = make_operator(group, laplace);
    CHECK(block_jacobi<double>(*b, laplace).largest_block() == 1);

    std::vector<std::vector<double>> full(40, std::vector<double>(40, 1.0)); // one run, divided
    for (std::size_t i = 0; i < 40; ++i) full[i][i] = 50;
    const auto dense = from_dense(full);
    const auto c = make_operator(group, dense);
    const block_jacobi<double> halves(*c, dense);
    CHECK(halves.blocks() == 2);
    CHECK(halves.largest_block() == 20);
}

KRYLITH_GROUP_TEST("block-jacobi: pivots, and inverses of symmetric blocks are symmetric") {
    // Without exchanges of rows all of these have pivots that are 0 or tiny.
    const auto matrix = from_dense({{0, 2, 0, 0, 1},
                                    {2, 0, 0, 1, 0},
                                    {0, 0, 1e-20, 1, 2},
                                    {0, 1, 1, 0, 3},
                                    {1, 0, 2, 3, 1e-20}});
    const auto a = make_operator(group, matrix);
    const block_jacobi<double> m(*a, matrix, {.block_size = 5});
    Eigen::MatrixXd inverse(5, 5);
    for (Eigen::Index j = 0; j < 5; ++j) {
        std::vector<double> unit(5);
        unit[static_cast<std::size_t>(j)] = 1;
        inverse.col(j) = to_eigen(applied(*a, m, unit));
    }
    CHECK(inverse == inverse.transpose());
    CHECK((inverse * to_eigen(matrix) - Eigen::MatrixXd::Identity(5, 5)).norm() <= 1e-14);
}

KRYLITH_GROUP_TEST("block-jacobi: update takes new values, or none") {
    const auto first = testing::random_matrix(50, 6, 3, 1);
    auto second = first;
    for (double& v : second.values) v *= 1.5;
    auto third = first;
    for (double& v : third.values) v = 0;
    const auto r = random_values<double>(50, 2);
    const auto a = make_operator(group, first);
    block_jacobi<double> m(*a, first, {.block_size = 4});
    const auto before = applied(*a, m, r);
    m.update(second);
    const auto after = applied(*a, m, r);
    CHECK(after == applied(*a, block_jacobi<double>(*a, second, {.block_size = 4}), r));
    CHECK(after != before);
    CHECK_THROWS_AS(m.update(third), input_error);
    CHECK_THROWS_AS(m.update(testing::laplace_1d(50)), usage_error);
    CHECK(applied(*a, m, r) == after);
}

KRYLITH_GROUP_TEST("block-jacobi: blocks without a finite inverse are refused by their rows") {
    const auto refuses = [&](const csr_matrix<double>& matrix, int size, const std::string& rows) {
        const auto a = make_operator(group, matrix);
        CHECK_THROWS_WITH_AS(block_jacobi<double>(*a, matrix, {.block_size = size}),
                             doctest::Contains(("the block of " + rows + " (").c_str()),
                             input_error);
    };
    refuses(from_dense({{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 2}, {0, 0, 2, 4}}), 2, "rows 2 to 3");
    refuses(testing::diagonal_matrix({1, 0, 3}), 1, "row 1");
    refuses(testing::diagonal_matrix({1, 0, 3}), 3, "rows 0 to 2");
    refuses(testing::from_triplets(40, {}), 32, "rows 0 to 31");
    refuses(testing::diagonal_matrix({1, 1, std::nan("")}), 1, "row 2");
    refuses(testing::diagonal_matrix({std::numeric_limits<double>::infinity(), 1}), 1, "row 0");
    refuses(testing::diagonal_matrix({1, 1e-310}), 2, "rows 0 to 1");
    const auto matrix = testing::laplace_1d(4);
    const auto a = make_operator(group, matrix);
    CHECK_THROWS_WITH_AS(block_jacobi<double>(*a, matrix, {.block_size = 33}),
                         doctest::Contains("allowed is 1 to 32"), usage_error);
    CHECK_THROWS_AS(block_jacobi<double>(*a, testing::laplace_1d(5)), usage_error);
}

KRYLITH_GROUP_TEST("block-jacobi: counts do not depend on the devices, and blocks pay") {
    const auto matrix = node_matrix(200);
    const auto b = random_values<double>(600, 3);
    const auto iterations = [&](const device_group& on, int size) {
        const auto a = make_operator(on, matrix);
        const auto rhs = testing::make_range_vector(a->layout(), b);
        auto x = a->make_range_vector();
        const block_jacobi<double> m(*a, matrix, {.block_size = size});
        const auto result = bicgstab(*a, rhs, x, {.rtol = 1e-10}, m);
        CHECK(result.converged());
        return result.iterations;
    };
    CHECK(iterations(group, 7) == iterations(device_group::host(1), 7));
    CHECK(iterations(group, 3) < iterations(group, 1));
}

KRYLITH_GROUP_TEST("block-jacobi: extreme entries keep squares in range") {
    auto matrix = testing::laplace_1d(40);
    for (double& v : matrix.values) v *= 1e200;
    const auto a = make_operator(group, matrix);
    const auto b = testing::make_range_vector(a->layout(), std::vector<double>(40, 1e200));
    auto x = a->make_range_vector();
    CHECK(cg(*a, b, x, {.rtol = 1e-8}, block_jacobi<double>(*a, matrix, {.block_size = 4}))
              .converged());
}

KRYLITH_GROUP_TEST("block-jacobi: refused memory leaves nothing behind") {
    const auto matrix = testing::random_matrix(45, 4, 3, 3);
    const auto a = make_operator(group, matrix);
    const auto before = testing::live_bytes(group);
    for (int k = 0;; ++k) {
        testing::short_memory memory(group, k);
        try {
            const block_jacobi<double> m(*a, matrix, {.block_size = 6});
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
