// Conjugate gradients for symmetric positive definite A, optionally preconditioned.
//
// Hestenes and Stiefel, J. Res. NBS 49(6), 1952; Saad, Iterative Methods, 2nd ed., algorithms 6.18
// and 9.1. An iteration makes three passes (the product with p'q, the residual with r'r, the
// solution with the direction) and, without preconditioner, moves 12 nnz + 84 n bytes (fp64).
#pragma once

#include <concepts>
#include <string>
#include <utility>

#include <krylith/solvers/iteration/kept_solver.hpp>
#include <krylith/solvers/iteration/preconditioned_residual.hpp>
#include <krylith/solvers/persistent_cg.hpp>

namespace krylith {

template <linear_operator A, preconditioner<typename A::value_type> M>
class cg_loop : public default_loop<A, M> {
public:
    using T = typename A::value_type;
    static constexpr const char* name = "cg";
    static constexpr bool needs_symmetric = true;

    cg_loop(iteration<A, M>& it, const solver_options&)
        : run(it.run()), a(it.a()), m(it.m()), x(it.x()), residual(run, a, m) {
        p.promise_single_reader();
    }

    [[nodiscard]] static execution_options sizes(const A&, const solver_options& options) {
        return {.coefficients = options.history};
    }

    void start() { residual.start(p, rho); } // p = z, rho = r'z

    void iterate() {
        residual.require_positive_definite(rho);
        multiply(run, a, p, q, pq = dot(p, q));
        require_positive(pq, loop_state::indefinite_matrix);
        alpha = rho / pq;
        residual.subtract(alpha * q);
        beta = residual.rz() / rho;
        rho = residual.rz();
        fused(run, x += alpha * p, p = residual.z() + beta * p);
        test_residual(residual.rr, alpha, beta);
    }

    [[nodiscard]] vector<T>& r() { return residual.r; }
    [[nodiscard]] vector<T>& direction() { return p; }
    void conclude(solve_result& result) { result.form = "launched"; }

private:
    execution& run;
    const scaled_operator<A>& a;
    scaled_preconditioner<M, T> m;
    vector<T>& x;
    preconditioned_residual<T, scaled_preconditioner<M, T>> residual;
    vector<T> q = a.make_range_vector();
    vector<T> p = a.make_domain_vector();
    scalar alpha{run}, beta{run}, rho{run}, pq{run};
};

struct launched_cg_method {
    template <linear_operator A, preconditioner<typename A::value_type> M>
    static solve_result
    solve(workspace_shelf& shelf, const A& a, const vector<typename A::value_type>& b,
          vector<typename A::value_type>& x, const solver_options& options, const M& m) {
        return solve_with<cg_loop<A, M>>(shelf, a, b, x, options, m);
    }
};

/// Says why cg() with these runs in kernels that are launched in every iteration; empty where it
/// runs in persistent kernels. The answer depends on the matrix, the group, M and the options
/// alone. Collective: all drivers have the same options.
template <linear_operator A, preconditioner<typename A::value_type> M>
[[nodiscard]] std::string launched_because(const A& a, const M& m,
                                           const vector<typename A::value_type>& b,
                                           const solver_options& options) {
    using T = typename A::value_type;
    if constexpr (std::derived_from<A, matrix_operator<T>>) {
        const std::string why = persistent_not_worth_because<T>(a, options.mode);
        return why.empty() ? not_persistent_because<T>(a, m, b) : why;
    } else {
        return "the operator is the caller's own";
    }
}

struct cg_method {
    template <linear_operator A, preconditioner<typename A::value_type> M>
    static solve_result
    solve(workspace_shelf& shelf, const A& a, const vector<typename A::value_type>& b,
          vector<typename A::value_type>& x, const solver_options& options, const M& m) {
        using T = typename A::value_type;
        const communicator comm = range_layout_of(a)->comm;
        solver_options agreed;
        std::string why = comm.together([&] {
            detail::check_arguments<cg_loop<A, M>>(a, b, x, options, m);
            agreed = agreed_options(comm, resolved<T>(options), "cg");
            return launched_because(a, m, b, agreed);
        });
        if constexpr (std::derived_from<A, matrix_operator<T>>) {
            const matrix_operator<T>& matrix = a;
            if (why.empty())
                return solve_with<persistent_cg_loop<T, M>>(shelf, matrix, b, x, agreed, m);
        }
        auto result = solve_with<cg_loop<A, M>>(shelf, a, b, x, agreed, m);
        result.form_because = std::move(why);
        return result;
    }
};

/// Solves A x = b. With a symmetric positive definite preconditioner M the iterates are those of
/// split preconditioning. Small systems run in persistent kernels (solvers/persistent_cg.hpp) where
/// launched_because() gives no reason against it; solve_result::form says which ran. Memory, kept
/// for the next solve: 4 vectors, 5 with M.
template <linear_operator A, preconditioner<typename A::value_type> M = identity>
solve_result cg(const A& a, const vector<typename A::value_type>& b,
                vector<typename A::value_type>& x, const solver_options& options = {},
                const M& m = {}) {
    return solve_by<cg_method>(a, b, x, options, m);
}

/// The same, always in kernels that are launched, or recorded, in every iteration.
template <linear_operator A, preconditioner<typename A::value_type> M = identity>
solve_result launched_cg(const A& a, const vector<typename A::value_type>& b,
                         vector<typename A::value_type>& x, const solver_options& options = {},
                         const M& m = {}) {
    return solve_by<launched_cg_method>(a, b, x, options, m);
}

/// cg() with a workspace of its own (solvers/iteration/kept_solver.hpp): cg_solver solver(a, m,
/// options).
template <linear_operator A, preconditioner<typename A::value_type> M = identity>
class cg_solver : public solver<cg_method, A, M> {
    using solver<cg_method, A, M>::solver;
};
template <linear_operator A>
cg_solver(const A&, solver_options = {}) -> cg_solver<A>;
template <linear_operator A, preconditioner<typename A::value_type> M>
cg_solver(const A&, const M&, solver_options = {}) -> cg_solver<A, M>;

} // namespace krylith
