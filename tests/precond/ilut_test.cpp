// Incomplete LU with thresholds as a preconditioner: exact where nothing is dropped, and solves of
// matrices that others can't.
#include <cmath>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/device/threads/interruption.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/any_preconditioner.hpp>
#include <krylith/precond/ilut.hpp>
#include <krylith/solvers/bicgstab.hpp>
#include <krylith/solvers/cg.hpp>
#include <krylith/solvers/gmres.hpp>

#include <krylith/tests/precond/applied.hpp>
#include <krylith/tests/support/dense.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith {

using testing::applied;
using testing::problem;
using testing::random_values;
using testing::to_eigen;

namespace {

constexpr ilut_options exact = {.drop = 0, .fill = 1e6};

/// Convection and diffusion whose rows have changed places, so that the diagonal has zeros.
csr_matrix<double> shuffled_rows() {
    const auto a = make_gallery<double>("convection_diffusion:6:30");
    testing::triplets entries;
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (auto k = a.row_offsets[static_cast<std::size_t>(i)];
             k < a.row_offsets[static_cast<std::size_t>(i) + 1]; ++k)
            entries.push_back(
                {static_cast<int>((i * 7 + 3) % a.rows),
                 a.column_indices[static_cast<std::size_t>(k)],
                 std::ldexp(a.values[static_cast<std::size_t>(k)], static_cast<int>(i % 3) * 2)});
    return testing::from_triplets(a.rows, entries);
}

/// r = M z of the blocks of rows that devices own, or of all.
Eigen::VectorXd blocks_times(const csr_matrix<double>& a, const layout& layout,
                             const Eigen::VectorXd& z) {
    Eigen::MatrixXd dense = to_eigen(a);
    if (layout.kind == coherence::owned)
        for (int rank = 0; rank < layout.comm.ranks(); ++rank) {
            const row_range rows = layout.rows.owned(rank);
            for (std::int64_t i = rows.begin; i < rows.end; ++i)
                for (std::int64_t j = 0; j < a.columns; ++j)
                    if (!rows.contains(j)) dense(i, j) = 0;
        }
    return dense * z;
}

template <class T>
void check_exact(const device_group& group, const csr_matrix<double>& matrix,
                 const operator_options& how, double tolerance) {
    const auto own = testing::converted<T>(matrix);
    const auto a = make_operator(group, own, how);
    const auto r = random_values<T>(matrix.rows, 4);
    const ilut<T> m(*a, own, exact);
    const auto z = to_eigen(applied(*a, m, r));
    const Eigen::VectorXd expected = to_eigen(r);
    CHECK((blocks_times(matrix, *a->layout(), z) - expected).norm() <= tolerance * expected.norm());
    CHECK(m.bytes() > 0);
    CHECK(m.nonzeros() >= 0);
}

} // namespace

KRYLITH_GROUP_TEST("ilut: with nothing dropped it solves the blocks of devices, or the whole") {
    const auto matrix = make_gallery<double>("convection_diffusion:5:20");
    for (const operator_kind kind : {operators::halo, operators::nz}) {
        CAPTURE(to_string(kind));
        check_exact<double>(group, matrix, {.kind = kind}, 1e-12);
        check_exact<float>(group, matrix, {.kind = kind}, 1e-4);
    }
    check_exact<double>(group, testing::laplace_1d(3), {}, 1e-12); // more devices than rows
    check_exact<double>(group, testing::diagonal_matrix({-2.0}), {}, 1e-12);
}

KRYLITH_GROUP_TEST("ilut: rows of a weak diagonal change places") {
    const auto matrix = shuffled_rows();
    for (const row_matching_use use : {row_matching_use::automatic, row_matching_use::on}) {
        const auto a = make_operator(group, matrix, {.kind = operators::nz});
        ilut_options options = exact;
        options.matching = use;
        const ilut<double> m(*a, matrix, options);
        CHECK(m.replaced_pivots() == 0);
        const auto r = random_values<double>(matrix.rows, 5);
        const auto z = to_eigen(applied(*a, m, r));
        CHECK((to_eigen(matrix) * z - to_eigen(r)).norm() <= 1e-10 * to_eigen(r).norm());
    }
}

KRYLITH_GROUP_TEST("ilut: solves what has zeros on its diagonal, and takes new values") {
    const auto matrix = shuffled_rows();
    problem<double> p(group, matrix, random_values<double>(matrix.rows, 6),
                      {.kind = operators::nz});
    ilut<double> m(*p.a, matrix, {.drop = 1e-2});
    const solve_result first = gmres(*p.a, p.b, p.x, {.rtol = 1e-10}, m);
    INFO(testing::describe(first));
    CHECK(first.converged());
    CHECK(first.iterations <= 12);
    CHECK(p.relative_residual() <= 1e-10);

    csr_matrix<double> other = matrix;
    for (double& value : other.values) value *= -0.5;
    p.a->update(other.values);
    m.update(csr_view<double>(other));
    const solve_result second = bicgstab(*p.a, p.b, p.x, {.rtol = 1e-10}, m);
    INFO(testing::describe(second));
    CHECK(second.converged());
    CHECK(second.iterations <= 12);
    // Another operator's M would not do.
    ilut<double> same(*p.a, other, {.drop = 1e-2});
    const auto r = random_values<double>(matrix.rows, 7);
    CHECK(testing::same_bits(applied(*p.a, m, r), applied(*p.a, same, r)));
}

KRYLITH_GROUP_TEST("ilut: fewer iterations than without, the diagonal's order or another") {
    const auto matrix = make_gallery<double>("convection_diffusion:10:100");
    for (const bool reordered : {false, true}) {
        CAPTURE(reordered);
        operator_options how;
        if (reordered) how.order = orders::rcm;
        problem<double> p(group, matrix, random_values<double>(matrix.rows, 8), how);
        const solve_result plain = gmres(*p.a, p.b, p.x, {.rtol = 1e-8});
        CHECK(plain.converged());
        p.x.zero();
        const ilut<double> m(*p.a, matrix);
        const solve_result found = gmres(*p.a, p.b, p.x, {.rtol = 1e-8}, m);
        INFO(testing::describe(found));
        CHECK(found.converged());
        CHECK(p.relative_residual() <= 1e-8);
        CHECK(2 * found.iterations < plain.iterations);
    }
}

KRYLITH_GROUP_TEST("ilut: refuses what it can't factor") {
    const auto matrix = testing::laplace_1d(30);
    const auto a = make_operator(group, matrix);
    const auto refuses = [&](const ilut_options& options, const char* words) {
        CHECK_THROWS_WITH_AS((ilut<double>(*a, matrix, options)), doctest::Contains(words),
                             usage_error);
    };
    refuses({.drop = -1}, "ilut_options::drop is -1; allowed is 0 to 1");
    refuses({.fill = NAN}, "ilut_options::fill is nan; allowed is 0 to 1e+06");
    CHECK_THROWS_WITH_AS((ilut<double>(*a, testing::laplace_1d(31))),
                         doctest::Contains("a matrix of 31 x 31 for an operator of 30 rows"),
                         usage_error);
    auto bad = matrix;
    bad.values[static_cast<std::size_t>(bad.row_offsets[20])] = INFINITY;
    CHECK_THROWS_WITH_AS((ilut<double>(*a, bad)),
                         doctest::Contains("an entry of row 20 (counted from 0) is not finite"),
                         input_error);

    ilut<double> m(*a, matrix);
    const auto r = random_values<double>(30, 9);
    const auto before = applied(*a, m, r);
    CHECK_THROWS_AS(m.update(csr_view<double>(bad)), input_error);
    CHECK(testing::same_bits(applied(*a, m, r), before)); // as it was
    auto b = testing::make_range_vector(a->layout(), r);
    auto x = a->make_range_vector();
    CHECK_THROWS_WITH_AS((void)cg(*a, b, x, {}, m),
                         doctest::Contains("ilut:drop=0.001:fill=5 is not symmetric: take gmres"),
                         usage_error);
    CHECK(m.name() == "ilut:drop=0.001:fill=5");
    CHECK(ilut<double>(*a, matrix, {.matching = row_matching_use::off}).name() ==
          "ilut:drop=0.001:fill=5:matching=off");

    auto large =
        testing::converted<float>(testing::diagonal_matrix(std::vector<double>(30, 1e-45)));
    const auto narrow = make_operator(group, large);
    large.values[3] = 0;
    const ilut<float> singular(*narrow, large); // a replaced pivot
    CHECK(singular.replaced_pivots() == 1);
}

KRYLITH_GROUP_TEST("ilut: the program of its header") {
    const auto matrix = convection_diffusion<double>(8, 20);
    const auto a = make_operator(group, matrix);
    auto b = a->make_range_vector();
    auto x = a->make_range_vector();
    b.upload(std::vector<double>(static_cast<std::size_t>(matrix.rows), 1));
    const ilut<double> m(*a, matrix);
    const solve_result result = gmres(*a, b, x, {}, m);
    CHECK(result.converged());
}

KRYLITH_GROUP_TEST("ilut: set-up ends where it is interrupted") {
    const auto matrix = poisson2d<double>(40);
    const auto a = make_operator(group, matrix);
    {
        const interruption ends([] { return true; });
        CHECK_THROWS_AS(ilut<double>(*a, matrix), interrupted_error);
    }
    CHECK(ilut<double>(*a, matrix).nonzeros() > 0);
}

} // namespace krylith
