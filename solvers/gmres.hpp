// Restarted GMRES(m) for general A.
//
// Saad and Schultz, SIAM J. Sci. Stat. Comput. 7(3), 1986; Saad, Iterative Methods, 2nd ed.,
// algorithms 6.9, 9.4 and 9.5. The basis is orthogonalised twice by classical Gram-Schmidt, the
// second time together with the first pass of the next vector (DCGS2; sources and algebra:
// solvers/gmres/delayed_hessenberg.hpp): one reduction of 2 j + 1 values an iteration.
// Orthogonality stays at rounding level, as with two passes at once (gmres_cgs2.hpp).
//
// Iteration j multiplies the candidate for v_{j-1}, so the previous column of H, and with it the
// residual estimate, comes an iteration late: one product is in vain when the estimate says stop. A
// full cycle ends with products of the basis and its last vector only. Iteration j moves 12 nnz +
// 20 n bytes (fp64) for the product, 16 j n for the basis and 32 n for the rest.
#pragma once

#include <krylith/solvers/gmres/delayed_hessenberg.hpp>
#include <krylith/solvers/gmres/gmres_cycle.hpp>
#include <krylith/vector/kernels/delayed_basis.hpp>

namespace krylith {

template <linear_operator A, preconditioner<typename A::value_type> M>
class gmres_loop : public gmres_cycle<A, M> {
    using cycle = gmres_cycle<A, M>;
    using cycle::compute;
    using cycle::estimate;
    using cycle::ratio;
    using cycle::restart;
    using cycle::run;
    using cycle::v;
    using cycle::w;

public:
    static constexpr const char* name = "gmres";

    gmres_loop(iteration<A, M>& it, const solver_options& options)
        : cycle(it, restart_length(it.a(), options), options.preconditioning) {}

    [[nodiscard]] static execution_options sizes(const A& a, const solver_options& options) {
        const delayed_layout h{{restart_length(a, options)}};
        return {.largest_batch = static_cast<int>(h.batch()), .array_size = h.size()};
    }

    void iterate() {
        cycle::begin(); // v_0
        for (int j = 0; j < restart; ++j) {
            cycle::multiply(j); // w = K v_j, which is still a candidate
            delayed_dots(run, v, j + 1, w, first);
            compute(hessenberg_task::delayed, j);
            if (j > 0) test_estimate(estimate * ratio);
            delayed_update(run, v, j + 1, w, first); // completes v_j, starts v_{j+1}
        }
        multi_dot(run, v, restart, v[restart], first);
        compute(hessenberg_task::delayed, restart);
        test_estimate(estimate * ratio);
        cycle::end(); // x and the true residual
    }

private:
    int first = static_cast<int>(delayed_layout{{restart}}.first());
};

struct gmres_method {
    template <linear_operator A, preconditioner<typename A::value_type> M>
    static solve_result
    solve(workspace_shelf& shelf, const A& a, const vector<typename A::value_type>& b,
          vector<typename A::value_type>& x, const solver_options& options, const M& m) {
        return solve_with<gmres_loop<A, M>>(shelf, a, b, x, options, m);
    }
};

/// Solves A x = b with m = min(options.restart, n, 1000) basis vectors. Every restart computes the
/// true residual, which alone decides convergence. A basis that can't be extended (happy breakdown)
/// ends the cycle. Memory, kept for the next solve: m + 6 vectors, m + 7 with M, m + 8 with M
/// split. With M on the left the history holds the preconditioned residual norms, scaled to the
/// true one at each restart.
template <linear_operator A, preconditioner<typename A::value_type> M = identity>
solve_result gmres(const A& a, const vector<typename A::value_type>& b,
                   vector<typename A::value_type>& x, const solver_options& options = {},
                   const M& m = {}) {
    return solve_by<gmres_method>(a, b, x, options, m);
}

/// The same with a workspace of its own (solvers/iteration/kept_solver.hpp): gmres_solver solver(a,
/// m, options).
template <linear_operator A, preconditioner<typename A::value_type> M = identity>
class gmres_solver : public solver<gmres_method, A, M> {
    using solver<gmres_method, A, M>::solver;
};
template <linear_operator A>
gmres_solver(const A&, solver_options = {}) -> gmres_solver<A>;
template <linear_operator A, preconditioner<typename A::value_type> M>
gmres_solver(const A&, const M&, solver_options = {}) -> gmres_solver<A, M>;

} // namespace krylith
