// GMRES with the basis orthogonalised twice at once, by classical Gram-Schmidt (CGS2), whose loss
// of orthogonality stays at rounding level (Giraud, Langou, Rozloznik, Comput. Math. Appl. 50,
// 2005): two reductions of j + 1 values and one of the norm an iteration. It is the form that
// gmres.hpp, with one reduction and half the bytes, is measured against. Iteration j moves 12 nnz +
// 20 n bytes (fp64) for the product, 32 j n for the basis and 40 n for the rest.
#pragma once

#include <krylith/solvers/gmres/gmres_cycle.hpp>

namespace krylith {

/// Solves A x = b like gmres(), with the same promises, the same memory and, but for rounding, the
/// same iterations. Each estimate is known within its iteration, so no product is in vain.
template <linear_operator A, preconditioner<typename A::value_type> M = identity>
solve_result gmres_cgs2(const A& a, const vector<typename A::value_type>& b,
                        vector<typename A::value_type>& x, const solver_options& options = {},
                        const M& m = {}) {
    check_square(a, "gmres_cgs2");
    const int restart = restart_length(a, options);
    const hessenberg_layout h{restart};
    const auto first = static_cast<int>(h.first());
    const auto second = static_cast<int>(h.second());
    gmres_cycle<A, M> cycle(a, m, b, x, options, restart,
                            {.largest_batch = restart + 2, .array_size = h.size()});
    execution& run = cycle.run();
    auto& v = cycle.v;
    auto& w = cycle.w;
    return cycle.solve([&] {
        for (int j = 0; j < restart; ++j) {
            cycle.multiply(j); // w = K v_j
            multi_dot(run, v, j + 1, w, first);
            multi_axpy(run, v, j + 1, first, w);
            multi_dot(run, v, j + 1, w, second);
            multi_axpy(run, v, j + 1, second, w, cycle.norm);
            cycle.compute(array_task::rotate, j);
            test_estimate(cycle.estimate * cycle.ratio);
            fused(run, v[j + 1] = cycle.inverse * w);
        }
    });
}

} // namespace krylith
