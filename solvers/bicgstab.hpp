// BiCGStab for general A.
//
// van der Vorst, SIAM J. Sci. Stat. Comput. 13(2), 1992; Saad, Iterative Methods, 2nd ed.,
// algorithm 7.7. An iteration makes two products and, without preconditioner, moves 24 nnz + 160 n
// bytes (fp64).
#pragma once

#include <krylith/solvers/iteration/kept_solver.hpp>
#include <krylith/solvers/iteration/preconditioned_operator.hpp>

namespace krylith {

template <linear_operator A, preconditioner<typename A::value_type> M>
class bicgstab_loop : public default_loop<A, M> {
public:
    using T = typename A::value_type;
    static constexpr const char* name = "bicgstab";

    bicgstab_loop(iteration<A, M>& it, const solver_options& options)
        : run(it.run()),
          a(it.a()),
          m(it.m()),
          x(it.x()),
          starting_rr(it.starting_rr()),
          k(a, m, options.preconditioning) {
        p.promise_single_reader();
        s.promise_single_reader();
    }

    void start() {
        k.left(run, residual, v, rho = dot(v, v));
        r0r0 = rho;
        ratio = starting_rr / rho;
        fused(run, residual = v, r0 = v, p = v);
    }

    void iterate() {
        auto& r = residual;
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
    }

    [[nodiscard]] vector<T>& r() { return residual; }
    [[nodiscard]] vector<T>& direction() { return p; }

private:
    execution& run;
    const scaled_operator<A>& a;
    scaled_preconditioner<M, T> m;
    vector<T>& x;
    const scalar& starting_rr;
    preconditioned_operator<scaled_operator<A>, scaled_preconditioner<M, T>> k;
    vector<T> residual = a.make_range_vector();
    vector<T> r0 = a.make_range_vector();
    vector<T> p = a.make_domain_vector();
    vector<T> s = a.make_domain_vector();
    vector<T> v = a.make_range_vector();
    vector<T> t = a.make_range_vector();
    std::optional<vector<T>> p_hat = k.make_hat();
    std::optional<vector<T>> s_hat = k.make_hat();
    scalar alpha{run}, beta{run}, omega{run}, gamma{run}, rho{run}, sigma{run}, rr{run}, ss{run},
        vv{run}, tt{run}, ts{run}, r0r{run}, r0r0{run}, ratio{run};
};

struct bicgstab_method {
    template <linear_operator A, preconditioner<typename A::value_type> M>
    static solve_result
    solve(workspace_shelf& shelf, const A& a, const vector<typename A::value_type>& b,
          vector<typename A::value_type>& x, const solver_options& options, const M& m) {
        return solve_with<bicgstab_loop<A, M>>(shelf, a, b, x, options, m);
    }
};

/// Solves A x = b. A breakdown (r0'v = 0, rho = 0 or omega = 0, relative to the vectors' norms)
/// restarts the recurrence from the true residual; a second one without progress in between ends
/// the solve. Memory, kept for the next solve: 7 vectors; with M on the right 2 more, on the left 1
/// more. With M on the left the recurrence follows the preconditioned residual, scaled to the true
/// one at each start.
template <linear_operator A, preconditioner<typename A::value_type> M = identity>
solve_result bicgstab(const A& a, const vector<typename A::value_type>& b,
                      vector<typename A::value_type>& x, const solver_options& options = {},
                      const M& m = {}) {
    return solve_by<bicgstab_method>(a, b, x, options, m);
}

/// The same with a workspace of its own (solvers/iteration/kept_solver.hpp): bicgstab_solver
/// solver(a, m, options).
template <linear_operator A, preconditioner<typename A::value_type> M = identity>
class bicgstab_solver : public solver<bicgstab_method, A, M> {
    using solver<bicgstab_method, A, M>::solver;
};
template <linear_operator A>
bicgstab_solver(const A&, solver_options = {}) -> bicgstab_solver<A>;
template <linear_operator A, preconditioner<typename A::value_type> M>
bicgstab_solver(const A&, const M&, solver_options = {}) -> bicgstab_solver<A, M>;

} // namespace krylith
