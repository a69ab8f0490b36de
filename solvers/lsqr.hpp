// LSQR: least squares, min ||b - A x||, for any m x n matrix A.
//
// Paige and Saunders, ACM TOMS 8(1), 1982; Björck, Numerical Methods for Least Squares Problems,
// section 7.6. The bidiagonalisation of Golub and Kahan makes orthonormal u and v with
// A v_k = alpha_k u_k + beta_k+1 u_k+1 and A'u_k+1 = beta_k+1 v_k + alpha_k+1 v_k+1, and rotations
// make its matrix triangular. The iterates are those of CG for A'A x = A'b in exact arithmetic, but
// A'A is never formed. ||b - A x|| never rises. u and v are kept beta and alpha times as long,
// which spares the passes that would divide by these. Damping by d is the same with -d I below A
// and zeros below b: u then has a lower part. An iteration multiplies by A and by A', makes three
// passes, and moves 24 nnz + 44 m + 84 n bytes (fp64).
#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include <krylith/device/error.hpp>
#include <krylith/solvers/iteration/kept_solver.hpp>

namespace krylith {

template <linear_operator A, preconditioner<typename A::value_type> M>
class lsqr_loop : public default_loop<A, M> {
public:
    using T = typename A::value_type;
    static constexpr const char* name = "lsqr";
    static constexpr bool least_squares = true;

    lsqr_loop(iteration<A, M>& it, const solver_options& options)
        : run(it.run()), it(it), a(it.a()), x(it.x()), size(it.matrix_norm_squared()) {
        if (options.damping != 0) lower.emplace(a.domain_layout());
        u.promise_single_reader();
        v.promise_single_reader();
    }

    void start() {
        size = 0.0;
        wanted = std::max(*it.options().rtol_normal, rounding) / epsilon;
        fused(run, u = u, bb = dot(u, u));
        if (lower) {
            damping = it.damping();
            fused(run, *lower = damping * x, lower_bb = dot(*lower, *lower));
            bb = bb + lower_bb;
        }
        beta = sqrt(bb);
        inverse_beta = divide_or_zero(beta, bb);
        a.multiply_transposed(run, u, T(0), p);
        if (lower) {
            weight = damping * inverse_beta;
            fused(run, v = inverse_beta * p - weight * *lower, aa = dot(v, v));
        } else {
            fused(run, v = inverse_beta * p, aa = dot(v, v));
        }
        alpha = sqrt(aa);
        inverse_alpha = divide_or_zero(alpha, aa);
        remaining = beta;
        diagonal = alpha;
        fused(run, w = inverse_alpha * v);
        require_positive(aa, loop_state::converged); // x solves A'A x = A'b
    }

    void iterate() {
        multiply(run, a, v, q);
        ratio = alpha * inverse_beta;
        fused(run, u = inverse_alpha * q - ratio * u, bb = dot(u, u));
        if (lower) {
            weight = -(damping * inverse_alpha);
            fused(run, *lower = weight * v - ratio * *lower, lower_bb = dot(*lower, *lower));
            bb = bb + lower_bb;
        }
        size = maximum(size, aa + bb);
        beta = sqrt(bb);
        inverse_beta = divide_or_zero(beta, bb);
        ratio = beta * inverse_alpha;
        a.multiply_transposed(run, u, T(0), p);
        if (lower) {
            weight = damping * inverse_beta;
            fused(run, v = inverse_beta * p - weight * *lower - ratio * v, aa = dot(v, v));
        } else {
            fused(run, v = inverse_beta * p - ratio * v, aa = dot(v, v));
        }
        rotate();
        fused(run, x += step * w, w = inverse_alpha * v - ratio * w);
        test_residual(remaining * remaining);
        require_nonzero(normal, wanted * sqrt(size) * remaining, loop_state::converged);
    }

    [[nodiscard]] vector<T>& r() { return u; }
    [[nodiscard]] vector<T>& direction() { return v; }

private:
    /// Takes away beta, which stands below the diagonal, and finds alpha.
    void rotate() {
        rho = sqrt(diagonal * diagonal + bb);
        cosine = divide_or_zero(diagonal, rho);
        sine = divide_or_zero(beta, rho);
        alpha = sqrt(aa);
        inverse_alpha = divide_or_zero(alpha, aa);
        step = divide_or_zero(cosine * remaining, rho);
        ratio = divide_or_zero(sine * alpha, rho);
        remaining = sine * remaining;
        diagonal = -(cosine * alpha);
        normal = remaining * diagonal;
    }

    [[nodiscard]] vector<T> make_u() const {
        if constexpr (transposable_operator<A>)
            return a.original().transposed().make_domain_vector();
        else
            return a.make_range_vector();
    }

    static constexpr double epsilon = std::numeric_limits<double>::epsilon();
    /// Less of ||A'r|| can't be asked for.
    static constexpr double rounding = std::numeric_limits<T>::epsilon();

    execution& run;
    const iteration<A, M>& it;
    const scaled_operator<A>& a;
    vector<T>& x;
    scalar& size; ///< of A, squared: the largest column of the bidiagonal matrix so far
    vector<T> u = make_u();
    vector<T> v = a.make_domain_vector();
    vector<T> q = a.make_range_vector(); ///< A v
    vector<T> p{a.domain_layout()};      ///< A' times the u of the range of A
    vector<T> w{a.domain_layout()};      ///< the direction of x
    std::optional<vector<T>> lower;      ///< of u, where x is damped
    scalar damping{run}, weight{run}, lower_bb{run};
    scalar alpha{run}, inverse_alpha{run}, aa{run}, beta{run}, inverse_beta{run}, bb{run};
    scalar ratio{run}, rho{run}, cosine{run}, sine{run}, step{run}, diagonal{run};
    scalar remaining{run}; ///< ||r||
    scalar normal{run};    ///< ||A'r||, with a sign
    scalar wanted{run};    ///< the ||A'r|| / (||A|| ||r||) that ends the loop, in roundings
};

struct lsqr_method {
    template <linear_operator A, preconditioner<typename A::value_type> M>
    static solve_result
    solve(workspace_shelf& shelf, const A& a, const vector<typename A::value_type>& b,
          vector<typename A::value_type>& x, const solver_options& options, const M& m) {
        if constexpr (!std::same_as<M, identity>)
            range_layout_of(a)->comm.together([&] {
                if (!is_identity(m))
                    throw usage_error("lsqr takes no preconditioner, and was given " +
                                      std::string(m.name()) +
                                      ": allowed is none; scale the columns of A instead");
            });
        return solve_with<lsqr_loop<A, M>>(shelf, a, b, x, options, m);
    }
};

/// Finds an x with the least ||b - A x||_2 for an m x n matrix A of any rank. b is of the range
/// layout of A, x of its domain layout, and A has transposed products
/// (operator_options::transposed_products; without, usage_error). Where A x = b has a solution, the
/// solve ends with converged_rtol or converged_atol as other solvers do; where it has none, with
/// converged_rtol_normal, by ||A'(b - A x)|| <= rtol_normal ||A|| ||b - A x||. What the iterations
/// know of ||A||_2 is an estimate from below, so the test is the stricter of the two. The result
/// has both residuals of the x returned, recomputed (solve_result::normal).
///
/// From x = 0 it finds, of the x with the least residual, the shortest. Iterations grow with the
/// condition number of A, as those of CG do for its square A'A; columns of one size help. M must
/// be I. Memory, kept for the next solve: 2 vectors like b and 4 like x.
///
/// With options.damping = d it minimises ||b - A x||^2 + d^2 ||x||^2, which is the least squares
/// problem of A with d times the identity below it, and b with zeros. All residuals, their tests
/// and ||A|| are those of that problem: true_residual is sqrt(||b - A x||^2 + d^2 ||x||^2), and
/// normal->norm is ||A'(b - A x) - d^2 x||. x may start from any guess. It keeps one more vector
/// like x, and moves 32 n more bytes (fp64) in an iteration. A d that is 0 and one that is not
/// have workspaces of their own.
template <transposable_operator A, preconditioner<typename A::value_type> M = identity>
solve_result lsqr(const A& a, const vector<typename A::value_type>& b,
                  vector<typename A::value_type>& x, const solver_options& options = {},
                  const M& m = {}) {
    return solve_by<lsqr_method>(a, b, x, options, m);
}

/// The same with a workspace of its own (solvers/iteration/kept_solver.hpp): lsqr_solver solver(a,
/// options).
template <linear_operator A, preconditioner<typename A::value_type> M = identity>
class lsqr_solver : public solver<lsqr_method, A, M> {
    using solver<lsqr_method, A, M>::solver;
};
template <linear_operator A>
lsqr_solver(const A&, solver_options = {}) -> lsqr_solver<A>;

} // namespace krylith
