// Matrices whose products, squared, vanish or overflow: every solver iterates on (s A) y = t b with
// powers of two, and reports on A x = b.
#include <cmath>
#include <string>
#include <vector>

#include <krylith/matrix/gallery.hpp>
#include <krylith/spmv/matrix_free.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/loop.hpp>
#include <krylith/tests/support/matrices.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/solves.hpp>
#include <krylith/tests/support/tables.hpp>

namespace krylith {

using testing::all_methods;
using testing::describe;
using testing::name_of;
using testing::problem;
using testing::random_values;
using testing::same_bits;
using testing::times;

namespace {

std::vector<double> shifted(std::vector<double> v, int exponent) {
    for (double& e : v) e = std::ldexp(e, exponent);
    return v;
}

csr_matrix<double> shifted(csr_matrix<double> a, int exponent) {
    a.values = shifted(std::move(a.values), exponent);
    return a;
}

/// Returns ||b - A x|| / ||b|| in long double, whose squares don't overflow where those of double
/// do.
double checked_residual(const problem<double>& p, const solve_result& result) {
    CHECK(std::isfinite(result.rhs_norm));
    CHECK(result.true_residual <= 1e-8 * result.rhs_norm);
    return p.relative_residual();
}

} // namespace

// p'Ap and ||A p||^2 leave the range of double long before A p does.
KRYLITH_GROUP_TEST("scaling: A times 1e-280 to 1e280 is solved to 1e-8") {
    const auto matrix = poisson2d<double>(11, 12, random_scaling{3});
    const auto b = random_values<double>(matrix.rows, 131);
    for (const double of_a : {1e-280, 1e-200, 1e60, 1e200, 1e280})
        for (const double of_b : {1e-20, 1.0})
            for (const auto which : all_methods)
                for (const bool precondition : {false, true}) {
                    CAPTURE(of_a);
                    CAPTURE(of_b);
                    CAPTURE(name_of(which));
                    CAPTURE(precondition);
                    problem<double> p(group, times(matrix, of_a), times(b, of_b));
                    const auto result = precondition ? p.solve_jacobi(which) : p.solve(which);
                    INFO(describe(result));
                    CHECK(result.converged());
                    CHECK(checked_residual(p, result) <= 1.01e-8);
                }
}

// Both are at the ends of the range: x is 1e-100 or 1e100 and must be recovered from y without
// loss.
KRYLITH_GROUP_TEST("scaling: A and b extreme together") {
    const auto matrix = testing::laplace_1d(30);
    const auto b = random_values<double>(matrix.rows, 132);
    const std::pair<double, double> sizes[] = {
        {1e200, 1e300}, {1e-200, 1e-300}, {1e200, 1e-90}, {1e-200, 1e90}, {1e140, 1e-150}};
    for (const auto& size : sizes)
        for (const auto which : all_methods) {
            const double of_a = size.first;
            const double of_b = size.second;
            CAPTURE(of_a);
            CAPTURE(of_b);
            CAPTURE(name_of(which));
            problem<double> p(group, times(matrix, of_a), times(b, of_b));
            const auto result = p.solve(which, {.restart = 30, .history = true});
            INFO(describe(result));
            CHECK(result.converged());
            CHECK(checked_residual(p, result) <= 1.01e-8);
            CHECK(result.history.front() == doctest::Approx(result.rhs_norm));
            // A start near the solution is scaled with it.
            const auto warm =
                p.solve_from(times(p.solution(), 1 + 1e-4), which, {.rtol = 1e-6, .restart = 30});
            INFO(describe(warm));
            CHECK(warm.converged());
            CHECK(warm.iterations < result.iterations);
            CHECK(p.relative_residual() <= 1.01e-6);
        }
}

// r0'r0 times ||A r0||^2 overflows although neither does, which must not be a breakdown of
// BiCGStab.
KRYLITH_GROUP_TEST("scaling: products of squares") {
    const auto matrix = poisson2d<double>(8, 9);
    const auto b = random_values<double>(matrix.rows, 133);
    for (const double size : {1e-90, 1e60, 1e90})
        for (const auto which : all_methods) {
            CAPTURE(size);
            problem<double> p(group, times(matrix, size > 1 ? 100 : 0.01), times(b, size));
            const auto result = p.solve(which);
            INFO(describe(result));
            CHECK(result.converged());
            CHECK(result.replacements == 0);
            CHECK(checked_residual(p, result) <= 1.01e-8);
        }
}

KRYLITH_GROUP_TEST("scaling: (2^k A) x = 2^j b takes the same way as A x = b, bit by bit") {
    const auto matrix = poisson2d<double>(9, 11, random_scaling{2});
    const auto b = random_values<double>(matrix.rows, 134);
    const std::pair<int, int> powers[] = {{1, -1},    {-1, 40},     {40, 300},
                                          {300, 300}, {-300, -300}, {-300, 40}};
    for (const auto which : all_methods)
        for (const auto kind : testing::different_operators())
            for (const bool precondition : {false, true}) {
                if (!testing::worth_running(which, kind)) continue;
                const solver_options options{.history = true};
                const auto solve = [&](problem<double>& p) {
                    return precondition ? p.solve_jacobi(which, options) : p.solve(which, options);
                };
                problem<double> p(group, matrix, b, {.kind = kind});
                const auto expected = solve(p);
                const auto x = p.solution();
                for (const auto& power : powers) {
                    const int k = power.first;
                    const int j = power.second;
                    CAPTURE(name_of(which));
                    CAPTURE(precondition);
                    CAPTURE(k);
                    CAPTURE(j);
                    problem<double> q(group, shifted(matrix, k), shifted(b, j), {.kind = kind});
                    const auto result = solve(q);
                    INFO(describe(result));
                    CHECK(result.iterations == expected.iterations);
                    CHECK(same_bits(result.history, shifted(expected.history, j)));
                    CHECK(same_bits(q.solution(), shifted(x, j - k)));
                    CHECK(result.true_residual == std::ldexp(expected.true_residual, j));
                }
            }
}

KRYLITH_GROUP_TEST("scaling: a preconditioner on the left, on the right and split") {
    const auto matrix = convection_diffusion<double>(7, 8, random_scaling{4});
    const auto b = random_values<double>(matrix.rows, 135);
    for (const double size : {1e-200, 1e200})
        for (const auto on_side : {side::left, side::right, side::split})
            for (const auto which : testing::general_methods) {
                CAPTURE(size);
                CAPTURE(static_cast<int>(on_side));
                CAPTURE(name_of(which));
                problem<double> p(group, times(matrix, size), b);
                const auto result = p.solve_jacobi(which, {.preconditioning = on_side});
                INFO(describe(result));
                CHECK(result.converged());
                CHECK(checked_residual(p, result) <= 1.01e-8);
            }
}

namespace {

/// A preconditioner that is a constant times the inverse diagonal, whatever the size of A, in
/// operations of its own or entry by entry.
struct sized_apply {
    void apply(execution& run, const vector<double>& r, vector<double>& z,
               std::span<const reduction_into<double>> dots) const {
        fused(run, z = krylith::pointwise(inverse, r), dots);
    }
    [[nodiscard]] bool recordable() const { return true; }
    [[nodiscard]] std::int64_t bytes() const { return 8 * inverse.size(); }
    [[nodiscard]] std::string name() const { return "sized"; }
    vector<double> inverse;
};

struct sized_diagonal : sized_apply {
    [[nodiscard]] std::optional<term<double>> pointwise(const vector<double>& r) const {
        return krylith::pointwise(inverse, r);
    }
};

} // namespace

// A user's preconditioner is as large or small as the matrix.
KRYLITH_GROUP_TEST("scaling: preconditioners of the user's") {
    const auto matrix = poisson2d<double>(9, 7, random_scaling{5});
    const auto b = random_values<double>(matrix.rows, 136);
    auto inverse = diagonal(matrix);
    for (double& v : inverse) v = 1 / v;
    for (const double size : {1e-280, 1e-200, 1e200, 1e280})
        for (const auto on_side : {side::left, side::right})
            for (const auto which : all_methods) {
                CAPTURE(size);
                CAPTURE(static_cast<int>(on_side));
                CAPTURE(name_of(which));
                problem<double> p(group, times(matrix, size), b);
                const auto d = [&] {
                    return testing::make_range_vector(p.a->layout(), times(inverse, 1 / size));
                };
                const solver_options options{.preconditioning = on_side};
                const auto first =
                    testing::solve(which, *p.a, p.b, p.x, options, sized_diagonal{{d()}});
                INFO(describe(first));
                CHECK(first.converged());
                CHECK(checked_residual(p, first) <= 1.01e-8);
                const auto second =
                    testing::solve(which, *p.a, p.b, p.x, options, sized_apply{d()});
                INFO(describe(second));
                CHECK(second.converged());
                CHECK(checked_residual(p, second) <= 1.01e-8);
                CHECK(std::abs(second.iterations - first.iterations) <= 1);
            }
}

// The estimate comes from a product, so an operator without a matrix is scaled too.
TEST_CASE("scaling: a product function of extreme size") {
    constexpr std::int64_t n = 60;
    for (const int devices : {1, 3})
        for (const double size : {1e-200, 1e200})
            for (const auto which : all_methods) {
                CAPTURE(devices);
                CAPTURE(size);
                CAPTURE(name_of(which));
                const auto group = device_group::host(devices);
                const auto a = make_matrix_free<double>(
                    group, equal_rows(n, devices), [size](const product_call<double>& call) {
                        for (auto i = call.rows.begin; i < call.rows.end; ++i) {
                            const double left = i > 0 ? call.x[i - 1] : 0;
                            const double right = i + 1 < n ? call.x[i + 1] : 0;
                            call.y[i - call.rows.begin] = size * (2.5 * call.x[i] - left - right);
                        }
                    });
                const auto values = random_values<double>(n, 137);
                const auto b = testing::make_range_vector(a->layout(), values);
                auto x = a->make_range_vector();
                const auto result = testing::solve(which, *a, b, x);
                INFO(describe(result));
                CHECK(result.converged());
                auto matrix = testing::laplace_1d(n);
                for (double& v : matrix.values) v = size * (v == 2 ? 2.5 : v);
                CHECK(testing::residual_norm(matrix, values, testing::values_of(x)) <=
                      1.01e-8 * testing::norm(values));
            }
}

KRYLITH_GROUP_TEST("scaling: fp32 matrices at the ends of the range") {
    const auto b = random_values<float>(40, 138);
    for (const float size : {1e-30F, 1e-15F, 1e15F, 1e30F})
        for (const auto which : all_methods) {
            CAPTURE(size);
            CAPTURE(name_of(which));
            auto matrix = testing::converted<float>(testing::laplace_1d(40));
            for (float& v : matrix.values) v = size * (v == 2 ? 2.5F : v);
            problem<float> p(group, matrix, b);
            for (const bool precondition : {false, true}) {
                const auto result = precondition ? p.solve_jacobi(which, {.rtol = 1e-4})
                                                 : p.solve(which, {.rtol = 1e-4});
                INFO(describe(result));
                CHECK(result.converged());
                CHECK(p.relative_residual() <= 1.1e-4);
            }
        }
}

// With A and b of size 1e200 failures keep their reasons, and x is not left scaled.
KRYLITH_GROUP_TEST("scaling: failures of extreme systems") {
    const auto swap = times(testing::from_dense({{0, 1}, {1, 0}}), 1e200);
    problem<double> p(group, swap, {1e200, 0});
    CHECK(p.solve(testing::method::cg).reason == reason::indefinite_matrix);
    CHECK(p.solve(testing::method::bicgstab).reason == reason::breakdown);
    CHECK(p.solve(testing::method::gmres).converged());
    CHECK(p.solution() == std::vector<double>{0, 1});
    problem<double> q(group, times(testing::laplace_1d(50), 1e200), std::vector<double>(50, 1.0));
    for (const auto which : all_methods) {
        CAPTURE(name_of(which));
        const auto early = q.solve(which, {.max_iterations = 3, .restart = 3});
        CHECK(early.reason == reason::max_iterations);
        CHECK(early.relative_residual() == doctest::Approx(q.relative_residual()).epsilon(1e-9));
        const auto none =
            q.solve_from(std::vector<double>(50, 1e-200), which, {.max_iterations = 0});
        CHECK(none.reason == reason::max_iterations);
        CHECK(q.solution() == std::vector<double>(50, 1e-200)); // scaling there and back is exact
    }
}

} // namespace krylith
