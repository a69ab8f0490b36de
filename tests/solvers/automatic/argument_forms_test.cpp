// solve() of what callers have: arrays in host memory, matrices in any form, a preconditioner of
// any class.
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/own_preconditioner.hpp>
#include <krylith/solvers/automatic.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/own_preconditioners.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith {

using testing::problem;
using testing::random_values;
using testing::two_steps;

namespace {

const csr_matrix<double>& matrix() {
    static const auto kept = poisson2d<double>(14, 13, random_scaling{5});
    return kept;
}

/// The same entries, the last first.
template <class T>
coo_matrix<T> backwards(const csr_matrix<T>& m) {
    coo_matrix<T> result{m.rows, m.columns};
    for (std::int64_t row = m.rows - 1; row >= 0; --row)
        for (auto k = m.row_offsets[static_cast<std::size_t>(row) + 1] - 1;
             k >= m.row_offsets[static_cast<std::size_t>(row)]; --k) {
            result.row_indices.push_back(static_cast<std::int32_t>(row));
            result.column_indices.push_back(m.column_indices[static_cast<std::size_t>(k)]);
            result.values.push_back(m.values[static_cast<std::size_t>(k)]);
        }
    return result;
}

} // namespace

KRYLITH_GROUP_TEST("solve: arrays of the host give the bits that vectors give") {
    const auto b = random_values<double>(matrix().rows, 311);
    problem<double> p(group, matrix(), b);
    const jacobi<double> m(*p.a);
    std::vector<double> x(b.size());
    const auto same = [&](const solve_result& there, const solve_result& here) {
        CHECK(here.converged());
        CHECK(here.iterations == there.iterations);
        CHECK(x == p.solution());
    };
    same(solve(*p.a, p.b, p.x), solve(*p.a, b, x));
    same(solve(*p.a, p.b, p.x, {.rtol = 1e-5}, std::cref(m)),
         solve(*p.a, b, x, {.rtol = 1e-5}, std::cref(m)));
    same(solve(*p.a, matrix(), p.b, p.x, {}, {.block_size = 2}),
         solve(*p.a, matrix(), b, std::span<double>(x), {}, {.block_size = 2}));
    CHECK(solve(*p.a, b, x, {.initial_guess = true}).iterations == 0);
    x.pop_back();
    CHECK_THROWS_WITH_AS((void)solve(*p.a, b, x),
                         "solve: x has 181 entries, must have 182, one a column", usage_error);
    CHECK_THROWS_WITH_AS((void)solve(*p.a, x, x),
                         "solve: b has 181 entries, must have 182, one a row", usage_error);
}

KRYLITH_GROUP_TEST("solve: a preconditioner of the caller's own, of a class or of a function") {
    const auto b = random_values<double>(matrix().rows, 312);
    problem<double> p(group, matrix(), b);
    std::vector<double> x(b.size());
    const two_steps<double> steps(*p.a); // holds vectors: it can't be copied
    const auto diagonal_of = diagonal(matrix());
    const auto function = make_preconditioner(
        *p.a,
        [&](const preconditioner_call<double>& call) {
            for (std::int64_t i = 0; i < static_cast<std::int64_t>(call.rows.size()); ++i)
                call.z[i] = call.r[i] / diagonal_of[static_cast<std::size_t>(call.rows.begin + i)];
        },
        {.kind = preconditioner_kind::on_host});
    const auto by = [&](const solve_result& result, const char* name) {
        CHECK(result.converged());
        CHECK(result.attempts.back().preconditioner == name);
    };
    by(solve(*p.a, p.b, p.x, {}, steps), "two steps of Jacobi");
    by(solve(*p.a, b, x, {}, steps), "two steps of Jacobi");
    CHECK(x == p.solution());
    by(solve(*p.a, p.b, p.x, {}, function), "own");
    by(solve(*p.a, p.b, p.x, {}, jacobi<double>(*p.a)), "jacobi");
    by(solve(*p.a, b, x, {}, any_preconditioner<double>()), "none");
    by(solve(*p.a, b, x, {}, identity()), "none");
}

KRYLITH_GROUP_TEST("solve: entries in any order are the matrix that they add up to") {
    const auto b = random_values<double>(matrix().rows, 313);
    std::vector<double> x(b.size());
    std::vector<double> expected(b.size());
    CHECK(solve(group, matrix(), b, expected).converged());
    CHECK(solve(group, backwards(matrix()), b, x, {.rtol = 1e-8}).converged());
    CHECK(x == expected);

    const std::vector<float> ones(2, 1.0F);
    std::vector<float> y(2);
    CHECK(solve(group, coo_matrix<float>{2, 2, {1, 0, 1}, {1, 0, 1}, {1, 4, 1}}, ones, y)
              .converged());
    CHECK(y[0] == doctest::Approx(0.25));
    CHECK(y[1] == doctest::Approx(0.5));
}

} // namespace krylith
