// GMRES with the basis orthogonalised twice at once, by classical Gram-Schmidt (CGS2), whose loss
// of orthogonality stays at rounding level (Giraud, Langou, Rozloznik, Comput. Math. Appl. 50,
// 2005): two reductions of j + 1 values and one of the norm an iteration. It is the form that
// gmres.hpp, with one reduction and half the bytes, is measured against. Iteration j moves 12 nnz +
// 20 n bytes (fp64) for the product, 32 j n for the basis and 40 n for the rest.
#pragma once

#include <krylith/solvers/gmres/gmres_cycle.hpp>

namespace krylith {

template <linear_operator A, preconditioner<typename A::value_type> M>
class gmres_cgs2_loop : public gmres_cycle<A, M> {
    using cycle = gmres_cycle<A, M>;
    using cycle::compute;
    using cycle::estimate;
    using cycle::inverse;
    using cycle::norm;
    using cycle::ratio;
    using cycle::restart;
    using cycle::run;
    using cycle::v;
    using cycle::w;

public:
    static constexpr const char* name = "gmres_cgs2";

    gmres_cgs2_loop(iteration<A, M>& it, const solver_options& options)
        : cycle(it, restart_length(it.a(), options), options.preconditioning) {}

    [[nodiscard]] static execution_options sizes(const A& a, const solver_options& options) {
        const hessenberg_layout h{restart_length(a, options)};
        return {.largest_batch = restart_length(a, options) + 2, .array_size = h.size()};
    }

    void iterate() {
        cycle::begin(); // v_0
        const auto first = static_cast<int>(h.first());
        const auto second = static_cast<int>(h.second());
        for (int j = 0; j < restart; ++j) {
            cycle::multiply(j); // w = K v_j
            multi_dot(run, v, j + 1, w, first);
            multi_axpy(run, v, j + 1, first, w);
            multi_dot(run, v, j + 1, w, second);
            multi_axpy(run, v, j + 1, second, w, norm);
            compute(hessenberg_task::rotate, j);
            test_estimate(estimate * ratio);
            fused(run, v[j + 1] = inverse * w);
        }
        cycle::end(); // x and the true residual
    }

private:
    hessenberg_layout h{restart};
};

struct gmres_cgs2_method {
    template <linear_operator A, preconditioner<typename A::value_type> M>
    static solve_result
    solve(workspace_shelf& shelf, const A& a, const vector<typename A::value_type>& b,
          vector<typename A::value_type>& x, const solver_options& options, const M& m) {
        return solve_with<gmres_cgs2_loop<A, M>>(shelf, a, b, x, options, m);
    }
};

/// Solves A x = b like gmres(), with the same promises, the same memory and, but for rounding, the
/// same iterations. Each estimate is known within its iteration, so no product is in vain.
template <linear_operator A, preconditioner<typename A::value_type> M = identity>
solve_result gmres_cgs2(const A& a, const vector<typename A::value_type>& b,
                        vector<typename A::value_type>& x, const solver_options& options = {},
                        const M& m = {}) {
    return solve_by<gmres_cgs2_method>(a, b, x, options, m);
}

/// The same with a workspace of its own (solvers/iteration/kept_solver.hpp): gmres_cgs2_solver
/// solver(a, m, options).
template <linear_operator A, preconditioner<typename A::value_type> M = identity>
class gmres_cgs2_solver : public solver<gmres_cgs2_method, A, M> {
    using solver<gmres_cgs2_method, A, M>::solver;
};
template <linear_operator A>
gmres_cgs2_solver(const A&, solver_options = {}) -> gmres_cgs2_solver<A>;
template <linear_operator A, preconditioner<typename A::value_type> M>
gmres_cgs2_solver(const A&, const M&, solver_options = {}) -> gmres_cgs2_solver<A, M>;

} // namespace krylith
