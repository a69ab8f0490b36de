// A user's own operator and preconditioner, through the concepts alone.
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/loop.hpp>
#include <krylith/tests/support/own_preconditioners.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith {

using testing::all_methods;
using testing::describe;
using testing::modes_of;
using testing::name_of;
using testing::problem;
using testing::random_values;
using testing::two_steps;

namespace {

/// The operator A + sigma I of a matrix operator and a number. It computes its dots in a pass of
/// its own.
template <class T>
class shifted_operator {
public:
    using value_type = T;
    shifted_operator(const matrix_operator<T>& a, T sigma) : a_(a), sigma_(sigma) {}

    [[nodiscard]] layout_handle layout() const { return a_.layout(); }
    [[nodiscard]] vector<T> make_range_vector() const { return a_.make_range_vector(); }
    [[nodiscard]] vector<T> make_domain_vector() const { return a_.make_domain_vector(); }
    [[nodiscard]] bool recordable() const { return true; }

    void apply(execution& run, T alpha, const vector<T>& x, T beta, vector<T>& y,
               std::span<const reduction_into<T>> dots) const {
        a_.apply(run, alpha, x, beta, y, {});
        fused_update<T> update;
        const scalar_value shift{&run, run.constant(static_cast<double>(alpha * sigma_))};
        update.add(y += shift * x);
        for (const auto& d : dots) update.add(d);
        enqueue(run, update);
    }

private:
    const matrix_operator<T>& a_;
    T sigma_;
};

static_assert(linear_operator<shifted_operator<double>> &&
              linear_operator<shifted_operator<float>>);

static_assert(preconditioner<two_steps<double>, double>);
static_assert(!pointwise_preconditioner<two_steps<double>, double>);

} // namespace

KRYLITH_GROUP_TEST("own parts: an operator of the user's") {
    const auto matrix = poisson2d<double>(14, 9);
    const auto b = random_values<double>(matrix.rows, 141);
    auto sum = matrix;
    for (std::int64_t row = 0; row < sum.rows; ++row)
        for (auto k = sum.row_offsets[static_cast<std::size_t>(row)];
             k < sum.row_offsets[static_cast<std::size_t>(row) + 1]; ++k)
            if (sum.column_indices[static_cast<std::size_t>(k)] == row)
                sum.values[static_cast<std::size_t>(k)] += 0.5;
    for (const auto kind : {operators::nz, operators::halo, operators::allgather})
        for (const auto which : testing::template_methods)
            for (const auto mode : modes_of(group)) {
                CAPTURE(name_of(which));
                CAPTURE(name_of(kind));
                problem<double> p(group, matrix, b, {.kind = kind});
                problem<double> q(group, sum, b, {.kind = kind});
                const shifted_operator<double> a(*p.a, 0.5);
                const auto result = testing::solve(which, a, p.b, p.x, {.mode = mode});
                const auto expected = q.solve(which);
                INFO(describe(result));
                CHECK(result.converged());
                CHECK(result.iterations == expected.iterations);
                CHECK(result.recorded == (mode == execution_mode::recorded));
                CHECK(testing::residual_norm(sum, b, p.solution()) <= 1.01e-8 * testing::norm(b));
            }
}

KRYLITH_GROUP_TEST("own parts: a preconditioner of the user's helps, on the sides it can") {
    const auto matrix = poisson2d<double>(12, 10, random_scaling{9});
    const auto b = random_values<double>(matrix.rows, 142);
    for (const auto kind : {operators::nz, operators::halo, operators::allgather})
        for (const auto which : all_methods)
            for (const auto mode : modes_of(group))
                for (const auto on_side : {side::left, side::right}) {
                    if (!testing::worth_running(which, kind)) continue;
                    CAPTURE(name_of(which));
                    CAPTURE(name_of(kind));
                    CAPTURE(static_cast<int>(on_side));
                    problem<double> p(group, matrix, b, {.kind = kind});
                    const two_steps<double> m(*p.a);
                    const auto plain = p.solve_jacobi(which, {.restart = 100});
                    const solver_options options{
                        .restart = 100, .preconditioning = on_side, .mode = mode};
                    const auto result = testing::solve(which, *p.a, p.b, p.x, options, m);
                    INFO(describe(result));
                    CHECK(result.converged());
                    CHECK(result.iterations < plain.iterations);
                    CHECK(p.relative_residual() <= 1.01e-8);
                }
}

KRYLITH_GROUP_TEST("own parts: split needs a square root, and says so") {
    const auto matrix = testing::laplace_1d(12);
    problem<double> p(group, matrix, std::vector<double>(12, 1.0));
    const two_steps<double> m(*p.a);
    for (const auto which : testing::general_methods) {
        if (!which.row->has_sides) continue;
        CHECK_THROWS_WITH_AS(
            (void)testing::solve(which, *p.a, p.b, p.x, {.preconditioning = side::split}, m),
            "preconditioner two steps of Jacobi can't be split, since it has no square root: "
            "use left or right",
            usage_error);
        // The identity can be split.
        CHECK(p.solve(which, {.preconditioning = side::split}).converged());
    }
}

KRYLITH_GROUP_TEST("own parts: what the host calls is not called beyond the last iteration") {
    const auto matrix = poisson2d<double>(9, 9);
    problem<double> p(group, matrix, random_values<double>(matrix.rows, 144));
    const testing::unrecordable<double> m(*p.a);
    const auto result = cg(*p.a, p.b, p.x, {}, m);
    INFO(describe(result));
    CHECK(result.converged());
    CHECK(m.applications() >= result.iterations);
    CHECK(m.applications() <= result.iterations + 2); // at the start, and where it is verified
}

} // namespace krylith
