// Flexible restarted GMRES(m) for general A, with a preconditioner that may differ from one
// application to the next: an inner solve, a cycle that adapts.
//
// Saad, SIAM J. Sci. Comput. 14(2), 1993; Saad, Iterative Methods, 2nd ed., algorithm 9.6. It keeps
// z_j = M_j^-1 v_j beside the basis, and x is a combination of these. M stands on the right, so
// that the estimates are of the true residual. The basis is orthogonalised like that of gmres.hpp,
// with one reduction an iteration: M_j applies to the candidate for v_j, which differs from v_j by
// rounding errors and a factor, and A Z = V H holds for that z_j.
//
// Iteration j moves 12 nnz + 20 n bytes (fp64) for the product, 16 j n for the basis and 32 n for
// the rest, beside M's own. A product is in vain when the estimate says stop.
#pragma once

#include <krylith/solvers/gmres.hpp>

namespace krylith {

template <linear_operator A, preconditioner<typename A::value_type> M>
class fgmres_loop : public gmres_cycle<A, M> {
    using cycle = gmres_cycle<A, M>;
    using cycle::compute;
    using cycle::estimate;
    using cycle::ratio;
    using cycle::restart;
    using cycle::run;
    using cycle::v;
    using cycle::w;

public:
    using T = typename A::value_type;
    static constexpr const char* name = "fgmres";
    static constexpr bool takes_varying = true;

    fgmres_loop(iteration<A, M>& it, const solver_options& options)
        : cycle(it, restart_length(it.a(), options), side::right, true),
          a(it.a()),
          m(it.m()),
          z(restart, [&] {
              auto domain = a.make_domain_vector();
              domain.promise_single_reader();
              return domain;
          }) {}

    [[nodiscard]] static execution_options sizes(const A& a, const solver_options& options) {
        return gmres_loop<A, M>::sizes(a, options);
    }

    void iterate() {
        cycle::begin(); // v_0
        for (int j = 0; j < restart; ++j) {
            precondition<T>(run, m, v[j], z[j]); // v_j is still a candidate
            multiply(run, a, z[j], w);
            delayed_dots(run, v, j + 1, w, first);
            compute(hessenberg_task::delayed_varying, j);
            if (j > 0) test_estimate(estimate * ratio);
            delayed_update(run, v, j + 1, w, first); // completes v_j, starts v_{j+1}
        }
        multi_dot(run, v, restart, v[restart], first);
        compute(hessenberg_task::delayed_varying, restart);
        test_estimate(estimate * ratio);
        cycle::end(z); // x and the true residual
    }

private:
    const scaled_operator<A>& a;
    scaled_preconditioner<M, T> m;
    basis<T> z; ///< [m]
    int first = static_cast<int>(delayed_layout{{restart}}.first());
};

struct fgmres_method {
    template <linear_operator A, preconditioner<typename A::value_type> M>
    static solve_result
    solve(workspace_shelf& shelf, const A& a, const vector<typename A::value_type>& b,
          vector<typename A::value_type>& x, const solver_options& options, const M& m) {
        if (is_identity(m)) return solve_with<gmres_loop<A, M>>(shelf, a, b, x, options, m);
        return solve_with<fgmres_loop<A, M>>(shelf, a, b, x, options, m);
    }
};

/// Solves A x = b with m = min(options.restart, n, 1000) basis vectors, M on the right whatever
/// options.preconditioning says. M may vary (precond/preconditioner.hpp); with one that does not,
/// the iterates are those of gmres() with M on the right, but for rounding. Every restart computes
/// the true residual, which alone decides convergence. Memory, kept for the next solve: 2 m + 6
/// vectors. Without M it is gmres(), with m + 6.
template <linear_operator A, preconditioner<typename A::value_type> M = identity>
solve_result fgmres(const A& a, const vector<typename A::value_type>& b,
                    vector<typename A::value_type>& x, const solver_options& options = {},
                    const M& m = {}) {
    return solve_by<fgmres_method>(a, b, x, options, m);
}

/// The same with a workspace of its own (solvers/iteration/kept_solver.hpp): fgmres_solver
/// solver(a, m, options).
template <linear_operator A, preconditioner<typename A::value_type> M = identity>
class fgmres_solver : public solver<fgmres_method, A, M> {
    using solver<fgmres_method, A, M>::solver;
};
template <linear_operator A>
fgmres_solver(const A&, solver_options = {}) -> fgmres_solver<A>;
template <linear_operator A, preconditioner<typename A::value_type> M>
fgmres_solver(const A&, const M&, solver_options = {}) -> fgmres_solver<A, M>;

} // namespace krylith
