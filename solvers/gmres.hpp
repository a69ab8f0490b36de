// Restarted GMRES(m) for general A.
//
// Saad and Schultz, SIAM J. Sci. Stat. Comput. 7(3), 1986; Saad, Iterative Methods, 2nd ed.,
// algorithms 6.9, 9.4 and 9.5. The basis is orthogonalised twice by classical Gram-Schmidt, the
// second time together with the first pass of the next vector (DCGS2; sources and algebra:
// vector/delayed_hessenberg.hpp): one reduction of 2 j + 1 values an iteration. Orthogonality stays
// at rounding level, as with two passes at once (gmres_cgs2.hpp).
//
// Iteration j multiplies the candidate for v_{j-1}, so the column of H before this one, and with it
// the residual estimate, comes an iteration late: one product is done in vain when the estimate
// says stop. A full cycle ends with products of the basis and its last vector only. Bytes of
// iteration j (fp64): 12 nnz + 20 n for the product, 16 j n for the basis, 32 n.
#pragma once

#include <algorithm>

#include <krylith/solvers/iteration.hpp>
#include <krylith/solvers/preconditioned_operator.hpp>
#include <krylith/vector/delayed_basis.hpp>
#include <krylith/vector/delayed_hessenberg.hpp>

namespace krylith {

/// Solves A x = b with m = min(options.restart, n, 1000) basis vectors. The true residual is
/// computed at every restart and decides. A basis that can't be extended (happy breakdown) ends the
/// cycle. Memory: m + 4 vectors, m + 5 with M, m + 6 with M split. With M on the left the history
/// holds the preconditioned residual norms, scaled to the true one at each restart.
template <linear_operator A, preconditioner<typename A::value_type> M = identity>
solve_result gmres(const A& given_a, const vector<typename A::value_type>& b,
                   vector<typename A::value_type>& x, const solver_options& options = {},
                   const M& given_m = {}) {
    using T = typename A::value_type;
    const auto restart = static_cast<int>(std::clamp<std::int64_t>(
        std::min<std::int64_t>(options.restart, given_a.share_layout()->size()), 1, 1000));
    const delayed_layout h{{restart}};
    iteration<A, M> it(given_a, given_m, b, x, options,
                       {.largest_batch = static_cast<int>(h.batch()), .array_size = h.size()},
                       true);
    execution& run = it.run();
    const auto& a = it.a();
    const auto m = it.m();
    const preconditioned_operator k(a, m, options.preconditioning);
    basis<T> v(restart + 1, [&] {
        if (k.on_right()) return a.make_vector(); // R^-1 v is what A multiplies
        auto operand = a.make_operand();
        operand.promise_single_reader();
        return operand;
    });
    auto r = a.make_vector();
    auto w = a.make_vector();
    auto u = a.make_operand();
    auto hat = k.make_hat();
    scalar rho(run), rr(run), columns(run), inverse(run), lucky(run), ratio(run), estimate(run);
    const std::uint8_t none = rho.number(); // norm, inverse: the delayed step has no use for them
    const std::uint8_t roles[] = {rho.number(),     none, estimate.number(),
                                  columns.number(), none, lucky.number()};
    const auto first = static_cast<int>(h.first());

    auto result = it.solve(
        r, u, [&] { rr = it.starting_rr(); },
        [&] {
            k.left(run, r, w, rho = dot(w, w)); // v_0 = L^-1 r / ||L^-1 r||
            ratio = divide_or_zero(rr, rho);
            inverse = divide_or_zero(rho, rho * sqrt(rho));
            columns = 0.0;
            lucky = 0.0;
            fused(run, v[0] = inverse * w);
            for (int j = 0; j < restart; ++j) {
                k.multiply(run, k.right(run, v[j], hat), w);
                delayed_dots(run, v, j + 1, w, first);
                run.compute({array_task::delayed, j, restart, {}}, roles);
                if (j > 0) test_estimate(estimate * ratio);
                delayed_update(run, v, j + 1, w, first); // ends v_j, begins v_{j+1}
            }
            multi_dot(run, v, restart, v[restart], first);
            run.compute({array_task::delayed, restart, restart, {}}, roles);
            test_estimate(estimate * ratio);
            run.flush();
            run.unguarded([&] { // however the cycle ended: x += R^-1 V y
                run.compute({array_task::back_substitute, 0, restart, {}}, roles);
                w.zero();
                multi_axpy(run, v, restart, static_cast<int>(h.solution()), w);
                fused(run, u = w);
                fused(run, x += k.right(run, u, hat));
                fused(run, u = x);
                residual(run, a, it.rhs(), u, r, rr = dot(r, r));
                finish_cycle(rr);
                run.flush();
            });
        });
    if (result.converged() && run.get(lucky.number()) != 0) result.reason = reason::happy_breakdown;
    return result;
}

} // namespace krylith
