// GMRES with the basis orthogonalised twice at once, by classical Gram-Schmidt (CGS2), whose loss
// of orthogonality stays at rounding level (Giraud, Langou, Rozloznik, Comput. Math. Appl. 50,
// 2005): two reductions of j + 1 values and one of the norm an iteration. gmres.hpp does the same
// with one reduction, and half the bytes; this one is what it is measured against. Bytes of
// iteration j (fp64): 12 nnz + 20 n for the product, 32 j n for the basis, 40 n.
#pragma once

#include <algorithm>

#include <krylith/solvers/iteration.hpp>
#include <krylith/solvers/preconditioned_operator.hpp>
#include <krylith/vector/basis.hpp>

namespace krylith {

/// As gmres(), of which it is the plain form: the same promises, iterations (but for rounding) and
/// memory. Each iteration's estimate is there at once, so none is done in vain at the end.
template <linear_operator A, preconditioner<typename A::value_type> M = identity>
solve_result gmres_cgs2(const A& given_a, const vector<typename A::value_type>& b,
                        vector<typename A::value_type>& x, const solver_options& options = {},
                        const M& given_m = {}) {
    using T = typename A::value_type;
    const auto restart = static_cast<int>(std::clamp<std::int64_t>(
        std::min<std::int64_t>(options.restart, given_a.share_layout()->size()), 1, 1000));
    const hessenberg_layout h{restart};
    iteration<A, M> it(given_a, given_m, b, x, options,
                       {.largest_batch = restart + 2, .array_size = h.size()}, true);
    execution& run = it.run();
    const auto& a = it.a();
    const auto m = it.m();
    const preconditioned_operator k(a, m, options.preconditioning);
    basis<T> v(restart + 1, [&] {
        auto operand = a.make_operand();
        operand.promise_single_reader();
        return operand;
    });
    auto r = a.make_vector();
    auto w = a.make_vector();
    auto u = a.make_operand();
    auto hat = k.make_hat();
    scalar rho(run), norm(run), rr(run), columns(run), inverse(run), lucky(run), ratio(run),
        estimate(run);
    const std::uint8_t roles[] = {rho.number(),     norm.number(),    estimate.number(),
                                  columns.number(), inverse.number(), lucky.number()};

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
                multi_dot(run, v, j + 1, w, static_cast<int>(h.first()));
                multi_axpy(run, v, j + 1, static_cast<int>(h.first()), w);
                multi_dot(run, v, j + 1, w, static_cast<int>(h.second()));
                multi_axpy(run, v, j + 1, static_cast<int>(h.second()), w, norm);
                run.compute({array_task::rotate, j, restart, {}}, roles);
                test_estimate(estimate * ratio);
                fused(run, v[j + 1] = inverse * w);
            }
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
