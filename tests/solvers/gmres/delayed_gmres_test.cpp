// GMRES with one reduction a step against GMRES that orthogonalises twice at once.
#include <algorithm>
#include <cmath>
#include <vector>

#include <krylith/matrix/gallery.hpp>
#include <krylith/solvers/gmres/hessenberg_task.hpp>
#include <krylith/vector/kernels/delayed_basis.hpp>

#include <krylith/tests/support/dense.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith {

using testing::describe;
using testing::method;
using testing::problem;
using testing::random_values;

namespace {

/// Returns ||V'V - I|| of the first `m` vectors.
double loss_of(const basis<double>& v, int m) {
    Eigen::MatrixXd dense(v.layout()->size(), m);
    for (int j = 0; j < m; ++j) dense.col(j) = testing::to_eigen(testing::values_of(v[j]));
    return (dense.transpose() * dense - Eigen::MatrixXd::Identity(m, m)).norm();
}

struct arnoldi_run {
    arnoldi_run(const problem<double>& p, const std::vector<double>& b, int m)
        : steps(m),
          h{{m}},
          run(p.a->layout()->comm,
              {.largest_batch = static_cast<int>(h.batch()) + 1, .array_size = h.size()}),
          v(m + 1, [&] { return p.a->make_domain_vector(); }),
          w(p.a->make_range_vector()),
          a(*p.a) {
        auto unit = b;
        for (double& x : unit) x /= testing::norm(b);
        v[0].upload(unit);
        put_ghosts(run, v[0]);
        start = 1.0;
    }

    double delayed() {
        const auto first = static_cast<int>(h.first());
        for (int j = 0; j < steps; ++j) {
            multiply(run, a, v[j], w);
            delayed_dots(run, v, j + 1, w, first);
            run.compute(hessenberg_task{hessenberg_task::delayed, j, steps}, roles());
            delayed_update(run, v, j + 1, w, first);
        }
        run.flush();
        return loss_of(v, steps);
    }

    double twice() {
        for (int j = 0; j < steps; ++j) {
            multiply(run, a, v[j], w);
            multi_dot(run, v, j + 1, w, static_cast<int>(h.first()));
            multi_axpy(run, v, j + 1, static_cast<int>(h.first()), w);
            multi_dot(run, v, j + 1, w, static_cast<int>(h.second()));
            multi_axpy(run, v, j + 1, static_cast<int>(h.second()), w, norm);
            run.compute(hessenberg_task{hessenberg_task::rotate, j, steps}, roles());
            fused(run, v[j + 1] = inverse * w);
        }
        run.flush();
        return loss_of(v, steps);
    }

    std::vector<std::uint8_t> roles() const {
        return {start.number(),   norm.number(),    estimate.number(),
                columns.number(), inverse.number(), lucky.number()};
    }

    int steps;
    delayed_layout h;
    execution run;
    basis<double> v;
    vector<double> w;
    const matrix_operator<double>& a;
    scalar start{run}, norm{run}, estimate{run}, columns{run}, inverse{run}, lucky{run};
};

/// A diagonal matrix with entries over `decades` decades. Powers of A crowd into few directions.
csr_matrix<double> spread_diagonal(int n, double decades) {
    std::vector<double> d;
    for (int i = 0; i < n; ++i) d.push_back(std::pow(10.0, decades * i / (n - 1)));
    return testing::diagonal_matrix(d);
}

} // namespace

KRYLITH_GROUP_TEST("delayed gmres: the basis is as orthogonal as that of CGS2") {
    const csr_matrix<double> matrices[] = {
        convection_diffusion<double>(5, 40, random_scaling{8}), spread_diagonal(120, 16),
        testing::random_matrix(90, 4, 1e-8, 701), poisson2d<double>(9, 11)};
    for (const auto& matrix : matrices)
        for (const auto kind : {operators::nz, operators::halo}) {
            CAPTURE(matrix.rows);
            const auto b = random_values<double>(matrix.rows, 702);
            const problem<double> p(group, matrix, b, {.kind = kind});
            const double twice = arnoldi_run(p, b, 60).twice();
            const double delayed = arnoldi_run(p, b, 60).delayed();
            CAPTURE(twice);
            CHECK(twice < 1e-13);
            CHECK(delayed < 1e-13);
        }
}

// The residuals of stalled solves differ a little after many restarts.
KRYLITH_GROUP_TEST("delayed gmres: the iterations of CGS2 on the battery") {
    for (const auto& entry : testing::battery()) {
        if (entry.matrix.rows != entry.matrix.columns || entry.matrix.rows == 0) continue;
        CAPTURE(entry.name);
        const auto b = random_values<double>(entry.matrix.rows, 703);
        for (const int restart : {1, 4, 30}) {
            CAPTURE(restart);
            problem<double> p(group, entry.matrix, b);
            const solver_options options{.max_iterations = 70, .restart = restart};
            const auto plain = p.solve(method::gmres_cgs2, options);
            const auto delayed = p.solve(method::gmres, options);
            INFO(describe(plain));
            INFO(describe(delayed));
            // Rounding decides when a singular system stagnates.
            if (plain.converged()) CHECK(delayed.iterations == plain.iterations);
            CHECK(delayed.reason == plain.reason);
            CHECK(delayed.recurrence_residual ==
                  doctest::Approx(plain.recurrence_residual).epsilon(0.02).scale(plain.rhs_norm));
        }
    }
}

KRYLITH_GROUP_TEST("delayed gmres: sides, fp32 and wide ranges as with CGS2") {
    const auto matrix = convection_diffusion<double>(6, 20, random_scaling{3});
    const auto b = random_values<double>(matrix.rows, 704);
    for (const auto on_side : {side::left, side::right, side::split}) {
        CAPTURE(static_cast<int>(on_side));
        problem<double> p(group, matrix, b);
        const solver_options options{
            .rtol = 1e-10, .restart = 20, .preconditioning = on_side, .history = true};
        const auto plain = p.solve_jacobi(method::gmres_cgs2, options);
        const auto delayed = p.solve_jacobi(method::gmres, options);
        INFO(describe(delayed));
        CHECK(delayed.converged());
        CHECK(delayed.iterations == plain.iterations);
        CHECK(p.relative_residual() <= 1.01e-10);
        for (std::size_t k = 0; k < std::min(plain.history.size(), delayed.history.size()); ++k)
            CHECK(delayed.history[k] == doctest::Approx(plain.history[k]).epsilon(1e-3));
    }
    problem<float> p(group, testing::converted<float>(matrix),
                     random_values<float>(matrix.rows, 704));
    const solver_options options{.rtol = 1e-4, .restart = 40};
    const auto plain = p.solve(method::gmres_cgs2, options);
    const auto delayed = p.solve(method::gmres, options);
    INFO(describe(delayed));
    CHECK(delayed.converged() == plain.converged());
    CHECK(std::abs(delayed.iterations - plain.iterations) <= 2);
}

// In fp32 the first pass leaves only noise of a vector inside the space, which the second pass
// removes altogether.
KRYLITH_GROUP_TEST("delayed gmres: fp32 runs out of space") {
    const auto matrix =
        testing::converted<float>(testing::diagonal_matrix({1, 1, 2, 2, 3, 3, 1, 2, 3, 1}));
    problem<float> p(group, matrix, random_values<float>(10, 705));
    for (const auto which : {method::gmres_cgs2, method::gmres}) {
        const auto result = p.solve(which, {.rtol = 1e-6, .restart = 10});
        INFO(describe(result));
        CHECK(result.converged());
        CHECK(result.iterations <= 4);
    }
}

} // namespace krylith
