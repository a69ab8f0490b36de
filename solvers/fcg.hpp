// Flexible conjugate gradients for symmetric positive definite A, with a symmetric positive
// definite preconditioner that may differ from one application to the next.
//
// Notay, SIAM J. Sci. Comput. 22(4), 2000: FCG(1), whose new direction is orthogonal to A p of the
// last one whatever M was. It differs from cg.hpp by one dot product, z'q, which M's last pass
// computes. An iteration moves 12 nnz + 92 n bytes (fp64), beside M's own.
#pragma once

#include <krylith/solvers/cg.hpp>

namespace krylith {

template <linear_operator A, preconditioner<typename A::value_type> M>
class fcg_loop : public default_loop<A, M> {
public:
    using T = typename A::value_type;
    static constexpr const char* name = "fcg";
    static constexpr bool takes_varying = true;
    static constexpr bool needs_symmetric = true;

    fcg_loop(iteration<A, M>& it, const solver_options&)
        : run(it.run()), a(it.a()), m(it.m()), x(it.x()) {
        p.promise_single_reader();
    }

    void start() {
        precondition<T>(run, m, residual, z, rz = dot(residual, z));
        fused(run, p = z);
    }

    void iterate() {
        auto& r = residual;
        require_positive(rz, loop_state::indefinite_preconditioner);
        multiply(run, a, p, q, pq = dot(p, q));
        require_positive(pq, loop_state::indefinite_matrix);
        alpha = rz / pq;
        if (const auto inverse = m.pointwise(r)) {
            fused(run, r -= alpha * q, z = *inverse, rr = dot(r, r), rz = dot(r, z),
                  zq = dot(z, q));
        } else {
            fused(run, r -= alpha * q, rr = dot(r, r));
            precondition<T>(run, m, r, z, rz = dot(r, z), zq = dot(z, q));
        }
        beta = -(zq / pq);
        fused(run, x += alpha * p, p = z + beta * p);
        test_residual(rr);
    }

    [[nodiscard]] vector<T>& r() { return residual; }
    [[nodiscard]] vector<T>& direction() { return p; }

private:
    execution& run;
    const scaled_operator<A>& a;
    scaled_preconditioner<M, T> m;
    vector<T>& x;
    vector<T> residual = a.make_range_vector();
    vector<T> z = a.make_range_vector();
    vector<T> q = a.make_range_vector();
    vector<T> p = a.make_domain_vector();
    scalar alpha{run}, beta{run}, pq{run}, rr{run}, rz{run}, zq{run};
};

struct fcg_method {
    template <linear_operator A, preconditioner<typename A::value_type> M>
    static solve_result
    solve(workspace_shelf& shelf, const A& a, const vector<typename A::value_type>& b,
          vector<typename A::value_type>& x, const solver_options& options, const M& m) {
        if (is_identity(m)) return solve_with<cg_loop<A, M>>(shelf, a, b, x, options, m);
        return solve_with<fcg_loop<A, M>>(shelf, a, b, x, options, m);
    }
};

/// Solves A x = b. M may vary (precond/preconditioner.hpp); with one that does not, the iterates
/// are those of cg(), but for rounding. Without M it is launched_cg(). Memory, kept for the next
/// solve: 5 vectors, 4 without M.
template <linear_operator A, preconditioner<typename A::value_type> M = identity>
solve_result fcg(const A& a, const vector<typename A::value_type>& b,
                 vector<typename A::value_type>& x, const solver_options& options = {},
                 const M& m = {}) {
    return solve_by<fcg_method>(a, b, x, options, m);
}

/// The same with a workspace of its own (solvers/iteration/kept_solver.hpp): fcg_solver solver(a,
/// m, options).
template <linear_operator A, preconditioner<typename A::value_type> M = identity>
class fcg_solver : public solver<fcg_method, A, M> {
    using solver<fcg_method, A, M>::solver;
};
template <linear_operator A>
fcg_solver(const A&, solver_options = {}) -> fcg_solver<A>;
template <linear_operator A, preconditioner<typename A::value_type> M>
fcg_solver(const A&, const M&, solver_options = {}) -> fcg_solver<A, M>;

} // namespace krylith
