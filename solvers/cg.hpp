// Conjugate gradients for symmetric positive definite A, optionally preconditioned.
//
// Hestenes and Stiefel, J. Res. NBS 49(6), 1952; Saad, Iterative Methods, 2nd ed., algorithms 6.18
// and 9.1. An iteration makes three passes (the product with p'q, the residual with r'r, the
// solution with the direction) and, without preconditioner, moves 12 nnz + 84 n bytes (fp64).
#pragma once

#include <krylith/solvers/iteration.hpp>
#include <krylith/solvers/iteration/preconditioned_residual.hpp>

namespace krylith {

/// Solves A x = b. With a symmetric positive definite preconditioner M the iterates are those of
/// split preconditioning. Memory: 3 vectors, 4 with M.
template <linear_operator A, preconditioner<typename A::value_type> M = identity>
solve_result cg(const A& given_a, const vector<typename A::value_type>& b,
                vector<typename A::value_type>& x, const solver_options& options = {},
                const M& given_m = {}) {
    using T = typename A::value_type;
    check_square(given_a, "cg");
    iteration<A, M> it(given_a, given_m, b, x, options, {.coefficients = options.history});
    execution& run = it.run();
    const auto& a = it.a();
    const auto m = it.m();
    preconditioned_residual<T, decltype(it.m())> residual(run, a, m);
    auto& r = residual.r;
    const auto& z = residual.z(); // M^-1 r, which is r itself without M
    auto q = a.make_range_vector();
    auto p = a.make_domain_vector();
    p.promise_single_reader();
    scalar alpha(run), beta(run), rho(run), pq(run);

    return it.solve(
        r, p, [&] { residual.start(p, rho); }, // p = z, rho = r'z
        [&] {
            residual.require_positive_definite(rho);
            multiply(run, a, p, q, pq = dot(p, q));
            require_positive(pq, loop_state::indefinite_matrix);
            alpha = rho / pq;
            residual.subtract(alpha * q);
            beta = residual.rz() / rho;
            rho = residual.rz();
            fused(run, x += alpha * p, p = z + beta * p);
            test_residual(residual.rr, alpha, beta);
        });
}

} // namespace krylith
