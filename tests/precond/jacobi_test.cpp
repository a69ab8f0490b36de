// Jacobi: its definition, new values, refusals.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith {

using testing::all_methods;
using testing::diagonal_matrix;
using testing::name_of;
using testing::problem;
using testing::random_values;
using testing::values_of;

namespace {

template <class T>
void applies(const device_group& group) {
    std::vector<double> d(600);
    for (std::size_t i = 0; i < d.size(); ++i)
        d[i] = std::ldexp(i % 3 == 0 ? -1.0 : 1.0, static_cast<int>(i % 9) - 4); // exact inverses
    const auto matrix = testing::converted<T>(diagonal_matrix(d));
    for (const auto kind :
         {operators::nz, operators::halo, operators::allgather, operators::pcsr, operators::pcsc}) {
        const auto a = make_operator(group, matrix, {.kind = kind});
        const jacobi<T> m(*a, matrix);
        const auto r0 = random_values<T>(600, 151);
        auto r = testing::make_range_vector(a->layout(), r0);
        auto z = a->make_range_vector();
        execution run(group, {});
        fused(run, z = *m.pointwise(r));
        run.flush();
        std::vector<T> expected;
        for (std::size_t i = 0; i < d.size(); ++i)
            expected.push_back(r0[i] * static_cast<T>(1 / d[i]));
        CHECK(values_of(z) == expected);
        CHECK(testing::copies_agree(z));
    }
}

} // namespace

KRYLITH_GROUP_TEST("jacobi: divides by the diagonal, wherever its entries are") {
    applies<double>(group);
    applies<float>(group);
    CHECK(std::string(jacobi<double>::name()) == "jacobi");
    CHECK(std::string(identity::name()) == "none");
}

KRYLITH_GROUP_TEST("jacobi: a diagonal system takes one iteration") {
    std::vector<double> d(90);
    for (std::size_t i = 0; i < d.size(); ++i) d[i] = std::pow(1.2, static_cast<double>(i));
    for (const auto which : all_methods)
        for (const auto on_side : {side::left, side::right, side::split}) {
            CAPTURE(name_of(which));
            problem<double> p(group, diagonal_matrix(d), random_values<double>(90, 152));
            const auto result = p.solve_jacobi(which, {.preconditioning = on_side});
            INFO(testing::describe(result));
            CHECK(result.converged());
            CHECK(result.iterations == 1);
            CHECK(p.relative_residual() <= 1.01e-8);
        }
}

KRYLITH_GROUP_TEST("jacobi: update takes the new diagonal") {
    const auto first = diagonal_matrix({1, 2, 4, 8, 16});
    const auto second = diagonal_matrix({2, 2, 2, 0.5, 0.25});
    const auto a = make_operator(group, first);
    jacobi<double> m(*a, first);
    auto r = testing::make_range_vector(a->layout(), std::vector<double>(5, 1.0));
    auto z = a->make_range_vector();
    execution run(group, {});
    fused(run, z = *m.pointwise(r));
    CHECK(values_of(z) == std::vector<double>{1, 0.5, 0.25, 0.125, 0.0625});
    m.update(second);
    fused(run, z = *m.pointwise(r));
    CHECK(values_of(z) == std::vector<double>{0.5, 0.5, 0.5, 2, 4});
    const auto root = m.square_root();
    fused(run, z = *root.pointwise(r));
    CHECK(values_of(z)[4] == 2);
    // A bad update is refused and changes nothing.
    CHECK_THROWS_AS(m.update(diagonal_matrix({1, 1, 0, 1, 1})), input_error);
    fused(run, z = *m.pointwise(r));
    CHECK(values_of(z) == std::vector<double>{0.5, 0.5, 0.5, 2, 4});
}

KRYLITH_GROUP_TEST("jacobi: zero, missing and infinite diagonals are refused, naming the row") {
    const auto refuses = [&](const csr_matrix<double>& matrix, const std::string& row) {
        const auto a = make_operator(group, matrix);
        CHECK_THROWS_WITH_AS(jacobi<double>(*a, matrix), doctest::Contains(row.c_str()),
                             input_error);
    };
    refuses(diagonal_matrix({1, 0, 3}), "row 1");
    refuses(testing::from_dense({{1, 2}, {3, 0}}), "row 1"); // not stored at all
    refuses(diagonal_matrix({1, 1, std::nan("")}), "row 2");
    refuses(diagonal_matrix({std::numeric_limits<double>::infinity(), 1}), "row 0");
    // The entry is finite, but its inverse is not: an infinity would make NaN of the first zero in
    // r.
    refuses(diagonal_matrix({1, 1e-310}), "row 1");
}

KRYLITH_GROUP_TEST("jacobi: split refuses a negative diagonal, naming the row") {
    problem<double> p(group, diagonal_matrix({1, 2, -3}), {1, 1, 1});
    for (const auto which : testing::general_methods) {
        if (!which.row->has_sides) continue;
        CHECK_THROWS_WITH_AS((void)p.solve_jacobi(which, {.preconditioning = side::split}),
                             doctest::Contains("row 2"), input_error);
        CHECK(p.solve_jacobi(which, {.preconditioning = side::left}).converged());
    }
}

// The sum of repeated entries must have the same bits as on the host, whatever their order.
KRYLITH_GROUP_TEST("jacobi: repeated and unsorted entries of the diagonal") {
    csr_matrix<double> matrix; // unsorted columns, (1, 1) three times
    matrix.rows = matrix.columns = 3;
    matrix.row_offsets = {0, 2, 6, 8};
    matrix.column_indices = {2, 0, 1, 0, 1, 1, 2, 1};
    matrix.values = {9, 4, 0.5, 9, 0.25, 0.25, 8, 9};
    const auto a = make_operator(group, matrix);
    jacobi<double> m(*a);
    auto r = testing::make_range_vector(a->layout(), std::vector<double>(3, 1.0));
    auto z = a->make_range_vector();
    execution run(group, {});
    fused(run, z = *m.pointwise(r));
    CHECK(values_of(z) == std::vector<double>{0.25, 1, 0.125});
    matrix.values = {9, 2, 1e16, 9, 1, -1e16 + 2, 0.5, 9}; // the sum depends on the order
    a->update(matrix.values);
    m.update(*a);
    fused(run, z = *m.pointwise(r));
    CHECK(values_of(z) == std::vector<double>{0.5, 1 / diagonal(matrix)[1], 2});
    matrix.values[5] = -1e16; // 1e16 + 1 is 1e16: the sum is 0
    a->update(matrix.values);
    CHECK_THROWS_WITH_AS(m.update(*a), doctest::Contains("row 1"), input_error);
    fused(run, z = *m.pointwise(r));
    CHECK(values_of(z)[2] == 2); // a refused update changes nothing
}

// The values of a matrix change: operator and preconditioner follow without a new set-up.
KRYLITH_GROUP_TEST("jacobi: solve, update matrix and preconditioner, solve") {
    const auto first = poisson2d<double>(12, random_scaling{1});
    const auto second = poisson2d<double>(12, random_scaling{2});
    const auto b0 = random_values<double>(first.rows, 153);
    for (const auto kind :
         {operators::nz, operators::halo, operators::allgather, operators::pcsr, operators::pcsc})
        for (const auto which : all_methods) {
            CAPTURE(name_of(which));
            problem<double> p(group, first, b0, {.kind = kind});
            jacobi<double> m(*p.a, first);
            CHECK(testing::solve(which, *p.a, p.b, p.x, {}, m).converged());
            CHECK(p.relative_residual() <= 1.01e-8);
            p.a->update(second.values);
            m.update(*p.a);
            const auto result = testing::solve(which, *p.a, p.b, p.x, {}, m);
            problem<double> fresh(group, second, b0, {.kind = kind});
            const auto expected = fresh.solve_jacobi(which);
            CHECK(result.converged());
            CHECK(result.iterations == expected.iterations);
            CHECK(testing::same_bits(p.solution(), fresh.solution()));
        }
}

} // namespace krylith
