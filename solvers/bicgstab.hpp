// BiCGStab for general A.
//
// van der Vorst, SIAM J. Sci. Stat. Comput. 13(2), 1992; Saad, Iterative Methods, 2nd ed.,
// algorithm 7.7. An iteration makes two products and, without preconditioner, moves 24 nnz + 160 n
// bytes (fp64).
#pragma once

#include <krylith/solvers/iteration.hpp>
#include <krylith/solvers/iteration/preconditioned_operator.hpp>

namespace krylith {

/// Solves A x = b. A breakdown (r0'v = 0, rho = 0 or omega = 0, relative to the vectors' norms)
/// restarts the recurrence from the true residual; a second one without progress in between ends
/// the solve. Memory: 6 vectors; with M on the right 2 more, on the left 1 more. With M on the left
/// the recurrence follows the preconditioned residual, scaled to the true one at each start.
template <linear_operator A, preconditioner<typename A::value_type> M = identity>
solve_result bicgstab(const A& given_a, const vector<typename A::value_type>& b,
                      vector<typename A::value_type>& x, const solver_options& options = {},
                      const M& given_m = {}) {
    check_square(given_a, "bicgstab");
    iteration<A, M> it(given_a, given_m, b, x, options);
    execution& run = it.run();
    const auto& a = it.a();
    const auto m = it.m();
    const preconditioned_operator k(a, m, options.preconditioning);
    auto r = a.make_range_vector();
    auto r0 = a.make_range_vector();
    auto p = a.make_domain_vector();
    auto s = a.make_domain_vector();
    p.promise_single_reader();
    s.promise_single_reader();
    auto v = a.make_range_vector();
    auto t = a.make_range_vector();
    auto p_hat = k.make_hat();
    auto s_hat = k.make_hat();
    scalar alpha(run), beta(run), omega(run), gamma(run), rho(run), sigma(run), rr(run), ss(run),
        vv(run), tt(run), ts(run), r0r(run), r0r0(run), ratio(run);

    return it.solve(
        r, p,
        [&] {
            k.left(run, r, v, rho = dot(v, v));
            r0r0 = rho;
            ratio = it.starting_rr() / rho;
            fused(run, r = v, r0 = v, p = v);
        },
        [&] {
            const auto& ph = k.right(run, p, p_hat);
            k.multiply(run, ph, v, sigma = dot(r0, v), vv = dot(v, v));
            require_nonzero(sigma, sqrt(r0r0 * vv), loop_state::breakdown);
            alpha = rho / sigma;
            fused(run, s = r - alpha * v, ss = dot(s, s));
            const auto& sh = k.right(run, s, s_hat);
            k.multiply(run, sh, t, ts = dot(t, s), tt = dot(t, t));
            omega = divide_or_zero(ts, tt); // s = 0 is a solution
            fused(run, x += alpha * ph + omega * sh, r = s - omega * t, rr = dot(r, r),
                  r0r = dot(r0, r));
            test_residual(rr * ratio);
            require_nonzero(ts, sqrt(ss * tt), loop_state::breakdown);
            require_nonzero(r0r, sqrt(r0r0 * rr), loop_state::breakdown);
            beta = (r0r / rho) * (alpha / omega);
            gamma = beta * omega;
            rho = r0r;
            fused(run, p = r + beta * p - gamma * v);
        });
}

} // namespace krylith
