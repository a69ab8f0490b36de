// Factors without fill against what defines them: L U is A on the pattern of A, in either order.
#include <cstdint>
#include <string>
#include <vector>

#include <krylith/device/memory/buffer.hpp>
#include <krylith/distributed/distributed_products.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/incomplete/factor_block.hpp>
#include <krylith/precond/incomplete/order_choice.hpp>
#include <krylith/precond/incomplete/pattern_steps.hpp>

#include <krylith/tests/precond/spread_matrix.hpp>
#include <krylith/tests/support/dense.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/matrices.hpp>
#include <krylith/tests/support/random.hpp>

namespace krylith {

using incomplete::factor_block;
using incomplete::factor_failure;
using incomplete::factor_rule;
using testing::to_eigen;

namespace {

/// The permutation of a rank's rows, places to rows.
std::vector<std::int32_t> order_of(const device_group& group, int rank, const row_colours* colours,
                                   std::int64_t rows) {
    std::vector<std::int32_t> order(static_cast<std::size_t>(rows));
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int32_t>(i);
    if (colours != nullptr && rows != 0)
        group[rank].download(order.data(), colours->order(rank),
                             order.size() * sizeof(std::int32_t));
    return order;
}

/// Checks one block against the rows and columns of A that it is made of.
template <class T>
void check_block(const device_group& group, const Eigen::MatrixXd& dense, const row_range range,
                 int rank, const row_colours* colours, factor_block<T>& block, bool symmetric,
                 double tolerance) {
    const auto n = static_cast<Eigen::Index>(range.size());
    const auto order = order_of(group, rank, colours, range.size());
    Eigen::MatrixXd a(n, n);
    for (Eigen::Index i = 0; i < n; ++i)
        for (Eigen::Index j = 0; j < n; ++j)
            a(i, j) = dense(range.begin + order[static_cast<std::size_t>(i)],
                            range.begin + order[static_cast<std::size_t>(j)]);
    const csr_matrix<T> made = block.factors().download();
    const Eigen::MatrixXd both = to_eigen(made);
    Eigen::MatrixXd lower = both.triangularView<Eigen::StrictlyLower>();
    lower.diagonal().setOnes();
    const Eigen::MatrixXd upper = both.triangularView<Eigen::Upper>();
    const Eigen::MatrixXd product = lower * upper;
    const double size = a.size() == 0 ? 0 : a.cwiseAbs().maxCoeff();
    std::int64_t entries = 0;
    double worst = 0;
    for (Eigen::Index i = 0; i < n; ++i)
        for (Eigen::Index j = 0; j < n; ++j)
            if (a(i, j) != 0 || i == j) ++entries;
    CHECK(made.nnz() >= entries); // the pattern of A, in which zeros may be stored, and no fill
    for (std::int64_t i = 0; i < made.rows; ++i)
        for (auto k = made.row_offsets[static_cast<std::size_t>(i)];
             k < made.row_offsets[static_cast<std::size_t>(i) + 1]; ++k) {
            const auto j = made.column_indices[static_cast<std::size_t>(k)];
            worst = std::max(worst, std::abs(product(i, j) - a(i, j)));
        }
    CHECK(worst <= tolerance * size);
    if (symmetric && n != 0) {
        const Eigen::MatrixXd expected =
            upper.diagonal().cwiseInverse().asDiagonal() * upper.transpose().eval().transpose();
        CHECK((lower.transpose() - expected).cwiseAbs().maxCoeff() <= tolerance);
    }
    // Solves are those of these factors.
    const auto r = testing::random_values<T>(range.size(), 5);
    const buffer<T> from(group.handle(rank), std::span<const T>(r), "r");
    const buffer<T> to(group.handle(rank), r.size(), "z");
    block.solve(from.data(), to.data());
    const auto z = to.download();
    Eigen::VectorXd placed(n);
    Eigen::VectorXd wanted(n);
    for (Eigen::Index i = 0; i < n; ++i) {
        const auto row = static_cast<std::size_t>(order[static_cast<std::size_t>(i)]);
        placed[i] = static_cast<double>(z[row]);
        wanted[i] = static_cast<double>(r[row]);
    }
    CHECK((product * placed - wanted).norm() <=
          100 * tolerance * (1 + size) * (1 + placed.norm() + wanted.norm()));
}

template <class T>
void check_all(const device_group& group, const csr_matrix<double>& matrix, bool symmetric,
               double tolerance) {
    const Eigen::MatrixXd dense = to_eigen(matrix);
    const distributed_csr<T> a = testing::spread_matrix(group, testing::converted<T>(matrix));
    const row_colours found = colour_rows(a);
    for (const row_colours* colours : {static_cast<const row_colours*>(nullptr), &found})
        for (int rank = 0; rank < group.size(); ++rank) {
            CAPTURE(colours != nullptr);
            CAPTURE(rank);
            const factor_rule rule{.symmetric = symmetric};
            factor_block<T> block(a, rank, colours, rule);
            REQUIRE(block.factor().what == factor_failure::kind::none);
            block.accept();
            CHECK(block.bytes() > 0);
            check_block<T>(group, dense, a.row_owners().owned(rank), rank, colours, block,
                           symmetric, tolerance);
            REQUIRE(block.take(a, rank, rule)); // the same values again
            REQUIRE(block.factor().what == factor_failure::kind::none);
            block.accept();
            check_block<T>(group, dense, a.row_owners().owned(rank), rank, colours, block,
                           symmetric, tolerance);
        }
}

/// Diagonally dominant, of random pattern; the arrow has a long row and column, last or first.
csr_matrix<double> arrow(int n, bool first) {
    testing::triplets entries;
    const int tip = first ? 0 : n - 1;
    for (int i = 0; i < n; ++i) {
        entries.push_back({i, i, i == tip ? 2.0 * n : 3.0});
        if (i == tip) continue;
        entries.push_back({i, tip, -1.0});
        entries.push_back({tip, i, -1.0});
    }
    return testing::from_triplets(n, entries);
}

} // namespace

KRYLITH_GROUP_TEST("factors without fill: L U is A on the pattern, in natural order and colours") {
    check_all<double>(group, make_gallery<double>("poisson3d:5"), true, 1e-14);
    check_all<float>(group, make_gallery<double>("poisson3d:5"), true, 1e-6);
    check_all<double>(group, make_gallery<double>("poisson3d_27point:4"), false, 1e-14);
    check_all<double>(group, make_gallery<double>("poisson3d_27point:4"), true, 1e-14);
    check_all<double>(group, make_gallery<double>("convection_diffusion:7:20"), false, 1e-14);
    check_all<float>(group, make_gallery<double>("convection_diffusion:7:20"), false, 1e-6);
    check_all<double>(group, testing::random_matrix(60, 5, 8, 3), false, 1e-13);
    check_all<double>(group, arrow(70, false), true, 1e-13);
    check_all<double>(group, arrow(70, true), false, 1e-13);
    check_all<double>(group, testing::laplace_1d(3), true, 1e-15);
    check_all<double>(group, testing::diagonal_matrix({-2.0}), false, 1e-15);
}

TEST_CASE("factors without fill: entries of a row in any order and of any number are sorted") {
    for (const int count : {0, 1, 2, 31, 32, 33, 100, 1000}) {
        CAPTURE(count);
        std::vector<std::int32_t> columns(static_cast<std::size_t>(count));
        std::vector<double> values(columns.size());
        for (int i = 0; i < count; ++i) {
            const auto at = static_cast<std::size_t>(i);
            columns[at] = (i * 7919 + 13) % 10007;
            values[at] = columns[at] * 0.5;
        }
        incomplete::sort_entries(columns.data(), values.data(), count);
        for (std::size_t i = 0; i < columns.size(); ++i) {
            if (i != 0) CHECK(columns[i - 1] < columns[i]);
            CHECK(values[i] == columns[i] * 0.5);
        }
    }
}

TEST_CASE("factors without fill: colours where natural order has many levels for its rows") {
    const auto of_grid = [](std::int64_t n) {
        return incomplete::colours_pay(3 * n - 2, n * n * n, 7 * n * n * n, 8);
    };
    CHECK(of_grid(64));
    CHECK(of_grid(256));
    CHECK_FALSE(incomplete::colours_pay(2, 1 << 24, std::int64_t{7} << 24, 8));
    CHECK_FALSE(incomplete::colours_pay(4, 1000, 7000, 8));
    CHECK_FALSE(incomplete::colours_pay(0, 0, 0, 8));
}

} // namespace krylith
