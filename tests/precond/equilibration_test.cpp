// Scaling of rows and columns: what it makes of a matrix, ranges, and what it is there for.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/precond/any_preconditioner.hpp>
#include <krylith/precond/equilibration.hpp>
#include <krylith/solvers/automatic.hpp>
#include <krylith/solvers/gmres.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith {

using testing::problem;
using testing::random_values;
using testing::values_of;

namespace {

/// Not symmetric, without diagonal entries in every fifth row, and rows and columns of sizes that
/// span `decades`: D B D.
csr_matrix<double> of_uneven_sizes(std::int64_t n, double decades) {
    testing::triplets entries;
    const auto size = [&](std::int64_t i) {
        return std::pow(10.0, decades / 2 * static_cast<double>(i * 7 % 11) / 10);
    };
    for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t next = (i + 1) % n;
        const std::int64_t far = (i + 13) % n;
        if (i % 5 == 0) { // a pair of rows
            entries.emplace_back(i, next, 3 * size(i) * size(next));
            entries.emplace_back(next, i, 3 * size(i) * size(next));
        } else {
            entries.emplace_back(i, i, 3 * size(i) * size(i));
        }
        entries.emplace_back(i, far, -0.5 * size(i) * size(far));
    }
    return testing::from_triplets(n, entries);
}

/// S^2 r for r = 1, in the caller's order.
template <class T>
std::vector<T> squares(const matrix_operator<T>& a, const equilibration<T>& m) {
    auto r = a.make_range_vector();
    auto z = a.make_range_vector();
    r.upload(std::vector<T>(static_cast<std::size_t>(r.size()), T(1)));
    execution run(a.comm(), {});
    m.apply(run, r, z);
    a.comm().synchronize();
    return values_of(z);
}

/// The largest magnitude of row i and column i of S A S.
template <class T>
std::vector<double> sizes(const csr_matrix<T>& a, const std::vector<T>& squared) {
    std::vector<double> largest(squared.size(), 0.0);
    for (std::size_t i = 0; i < largest.size(); ++i)
        for (auto k = static_cast<std::size_t>(a.row_offsets[i]);
             k < static_cast<std::size_t>(a.row_offsets[i + 1]); ++k) {
            const auto j = static_cast<std::size_t>(a.column_indices[k]);
            const double size = std::sqrt(static_cast<double>(squared[i])) *
                                std::fabs(static_cast<double>(a.values[k])) *
                                std::sqrt(static_cast<double>(squared[j]));
            largest[i] = std::max(largest[i], size);
            largest[j] = std::max(largest[j], size);
        }
    return largest;
}

} // namespace

KRYLITH_GROUP_TEST("equilibration: rows and columns come to one size, on any devices") {
    for (const double decades : {0.0, 6.0, 30.0}) {
        CAPTURE(decades);
        const auto matrix = of_uneven_sizes(97, decades);
        const auto a = make_operator(group, matrix);
        const equilibration<double> m(*a, matrix);
        const auto found = sizes(matrix, squares(*a, m));
        const auto [least, most] = std::ranges::minmax_element(found);
        CHECK(*least > 0);
        CHECK(*most == doctest::Approx(1).epsilon(0.01));
        CHECK(*most <= 1.05 * *least);
    }
    for (const double size : {400.0, 1e-30, 1e280}) { // S A S = I, or 2^k I
        CAPTURE(size);
        const auto matrix = testing::diagonal_matrix(std::vector<double>(40, size));
        const auto a = make_operator(group, matrix);
        for (const double found : sizes(matrix, squares(*a, equilibration<double>(*a, matrix)))) {
            const double k = std::round(std::log2(found));
            CHECK(found == doctest::Approx(std::exp2(k)).epsilon(1e-12));
            CHECK((k == 0) == (size < 1e200));
        }
    }
}

KRYLITH_GROUP_TEST("equilibration: gmres converges where sizes stall it") {
    const auto matrix = of_uneven_sizes(300, 14);
    problem<double> p(group, matrix, random_values<double>(matrix.rows, 401));
    const equilibration<double> m(*p.a, matrix);
    const solver_options options{.restart = 60, .preconditioning = side::split};
    const auto scaled = gmres(*p.a, p.b, p.x, options, m);
    INFO(testing::describe(scaled));
    CHECK(scaled.converged());
    CHECK(p.relative_residual() <= 1.01e-8);
    CHECK_FALSE(gmres(*p.a, p.b, p.x, {.restart = 60}).converged());
    const auto chosen = solve(*p.a, matrix, p.b, p.x);
    INFO(testing::describe(chosen));
    CHECK(chosen.converged());
    CHECK(p.relative_residual() <= 1.01e-8);
}

KRYLITH_GROUP_TEST("equilibration: the program of its header") {
    const auto matrix = of_uneven_sizes(100, 6);
    const auto a = make_operator(group, matrix);
    auto b = a->make_range_vector();
    auto x = a->make_range_vector();
    b.upload(random_values<double>(matrix.rows, 402));
    const equilibration<double> m(*a, matrix);
    const solve_result result = gmres(*a, b, x, {.preconditioning = side::split}, m);
    CHECK(result.converged());
}

KRYLITH_GROUP_TEST("equilibration: new values, an order of rows, another matrix") {
    const auto matrix = of_uneven_sizes(60, 4);
    const auto other = of_uneven_sizes(60, 9);
    const auto a = make_operator(group, matrix, {.order = orders::rcm});
    equilibration<double> m(*a, matrix);
    m.update(csr_view<double>(other));
    CHECK(testing::same_bits(squares(*a, m), squares(*a, equilibration<double>(*a, other))));
    CHECK_THROWS_AS(m.update(csr_view<double>(of_uneven_sizes(61, 4))), usage_error);
    CHECK_THROWS_AS(equilibration<double>(*a, of_uneven_sizes(61, 4)), usage_error);
}

KRYLITH_GROUP_TEST("equilibration: empty rows, no rows, extreme and infinite entries, fp32") {
    const auto empty = testing::from_triplets(0, {});
    const auto none = make_operator(group, empty);
    CHECK(squares(*none, equilibration<double>(*none, empty)).empty());
    const auto holes = testing::from_triplets(3, {{0, 0, 4.0}});
    const auto b = make_operator(group, holes);
    const auto found = squares(*b, equilibration<double>(*b, holes));
    CHECK(found[0] == doctest::Approx(0.25 * found[1]));
    CHECK(found[1] == found[2]);
    for (const double size : {1e-300, 1e300, static_cast<double>(INFINITY)}) {
        const auto extreme = testing::from_triplets(3, {{0, 0, size}, {1, 1, 1.0}, {2, 1, 2.0}});
        const auto a = make_operator(group, extreme);
        for (const double v : squares(*a, equilibration<double>(*a, extreme))) {
            CHECK(std::isfinite(v));
            CHECK(v > 0);
        }
    }
    const auto single = testing::converted<float>(of_uneven_sizes(40, 60));
    const auto c = make_operator(group, single);
    for (const float v : squares(*c, equilibration<float>(*c, single))) {
        CHECK(std::isfinite(v));
        CHECK(v > 0);
    }
}

} // namespace krylith
