// MINRES for symmetric A, which may be indefinite, optionally with a symmetric positive definite
// preconditioner.
//
// Paige and Saunders, SIAM J. Numer. Anal. 12(4), 1975; with M as in Elman, Silvester and Wathen,
// Finite Elements and Fast Iterative Solvers, 2nd ed., algorithm 4.1. The Lanczos process makes V
// with A M^-1 V = V T, rotations make T triangular, and ||r|| never rises (with M: r'M^-1 r). With
// M the residual itself is kept too, since its norm decides. An iteration without M moves 12 nnz +
// 148 n bytes (fp64).
//
// Where A is singular and b outside of its range, no x has a small residual. MINRES then ends with
// reason::stagnated at an x of least residual (of all these x not the shortest), which it knows by
// ||A r|| at rounding level beside ||A|| ||r|| (Choi, Paige and Saunders, SIAM J. Sci. Comput.
// 33(4), 2011), or by a step that would add more rounding to b - A x than is left of it.
#pragma once

#include <limits>
#include <optional>

#include <krylith/solvers/iteration/kept_solver.hpp>
#include <krylith/solvers/iteration/minres_rounding.hpp>

namespace krylith {

template <linear_operator A, preconditioner<typename A::value_type> M>
class minres_loop : public default_loop<A, M> {
public:
    using T = typename A::value_type;
    static constexpr const char* name = "minres";
    static constexpr bool needs_symmetric = true;

    minres_loop(iteration<A, M>& it, const solver_options&)
        : run(it.run()), a(it.a()), m(it.m()), x(it.x()), starting_rr(it.starting_rr()) {
        p.promise_single_reader();
        if (m.is_identity()) return;
        z.emplace(a.make_range_vector());
        v.emplace(a.make_range_vector());
        residual.emplace(a.make_range_vector());
    }

    void start() {
        if (z) {
            precondition<T>(run, m, r(), *z, zv = dot(r(), *z));
            require_positive(zv, loop_state::indefinite_preconditioner);
            factor = starting_rr / zv;
            zv = starting_rr;
            qq = starting_rr;
        } else {
            fused(run, zv = dot(q, q));
            factor = 1.0;
        }
        eta = sqrt(zv);
        inverse = divide_or_zero(eta, zv);
        for (vector<T>* of : {&v_before, &w_before, &w}) of->zero();
        if (v) fused(run, *v = inverse * r());
        fused(run, p = inverse * factor * (z ? *z : q));
        cosine = 1.0;
        cosine_before = 1.0;
        gamma = 0.0;
        for (scalar* of :
             {&sine, &sine_before, &size, &ww, &ww_before, &across, &first, &ww_next, &along})
            *of = gamma;
    }

    void iterate() {
        third = sine_before * gamma;
        across = -(third * first * along);
        ww_before = third * third * ww;
        ww = ww_next;
        multiply(run, a, p, q, delta = dot(p, q));
        rotate_as_before();
        if (z)
            next_vector(*z, *v);
        else
            fused(run, q = q - delta * p - gamma * v_before, v_before = p, zv = dot(q, q));
        rotate();
        fused(run, w_after = first * p - second * w - third * w_before, w_before = w, w = w_after);
        take_rotation();
        fused(run, x += phi * w, p = inverse * factor * (z ? *z : q));
        if (!z) return test_residual(eta * eta);
        fused(run, *v = inverse * q, *residual = sine * sine * *residual + eta * cosine * *v,
              rr = dot(*residual, *residual));
        test_residual(rr);
    }

    [[nodiscard]] vector<T>& r() { return residual ? *residual : q; }
    [[nodiscard]] vector<T>& direction() { return p; }

private:
    /// q becomes the next Lanczos vector v times the next gamma, and z = M^-1 q.
    void next_vector(vector<T>& z, const vector<T>& v) {
        // M gives q no norm where that is a rounding error, beside what it gave r at the start; of
        // a q that is a rounding error itself, beside the one before, that says nothing.
        constexpr double least = std::numeric_limits<double>::epsilon();
        constexpr double noise = 1000.0 * std::numeric_limits<T>::epsilon();
        rr = qq;
        fused(run, q = q - delta * v - gamma * v_before, v_before = v, qq = dot(q, q));
        rr = constant(2 * least * least) * qq - constant(least * least * noise * noise) * rr;
        precondition<T>(run, m, q, z, zv = dot(q, z));
        zv = factor * zv;
        require_positive(zv - rr, loop_state::indefinite_preconditioner);
        zv = maximum(zv, constant(0));
    }

    /// Applies the two rotations before to the new column of T.
    void rotate_as_before() {
        diagonal = cosine * delta - cosine_before * sine * gamma;
        second = sine * delta + cosine_before * cosine * gamma;
        size = maximum(size, delta * delta + gamma * gamma);
        along = second * ww + across;
        length = second * (along + across) + ww_before;
    }

    /// Makes the rotation that takes away sqrt(zv), which stands below the diagonal.
    void rotate() {
        const scalar_value square = diagonal * diagonal;
        // ||A r|| / ||r|| beside a part of ||A||, both as M measures.
        constexpr double epsilon = std::numeric_limits<double>::epsilon(); // what it reckons with
        require_nonzero(square + cosine * cosine * zv,
                        constant(rounding.vanishes * rounding.vanishes / epsilon) * size,
                        loop_state::stagnated);
        first = constant(1) / sqrt(square + zv);
        second = second * first;
        third = third * first;
    }

    void take_rotation() {
        gamma = sqrt(zv);
        inverse = divide_or_zero(gamma, zv);
        cosine_before = cosine;
        sine_before = sine;
        cosine = diagonal * first;
        sine = gamma * first;
        phi = cosine * eta;
        eta = -(sine * eta);
        limit_step();
    }

    /// Ends the recurrence, to be judged by b - A x, before a step that rounding outweighs.
    void limit_step() {
        const scalar_value square = first * first;
        ww_next = square + square * length;
        // In units of r'r.
        require_positive(constant(rounding.outweighs * rounding.outweighs) -
                             cosine * cosine * size * ww_next,
                         loop_state::converged);
    }

    [[nodiscard]] scalar_value constant(double c) { return {&run, run.constant(c)}; }

    static constexpr minres_rounding rounding = minres_rounding::of(sizeof(T));

    execution& run;
    const scaled_operator<A>& a;
    scaled_preconditioner<M, T> m;
    vector<T>& x;
    const scalar& starting_rr;
    vector<T> p = a.make_domain_vector();       ///< M^-1 v
    vector<T> q = a.make_range_vector();        ///< A p; the residual of the start without M
    vector<T> v_before = a.make_range_vector(); ///< the Lanczos vector before v
    vector<T> w = a.make_range_vector();        ///< the direction of x
    vector<T> w_before = a.make_range_vector();
    vector<T> w_after = a.make_range_vector();
    std::optional<vector<T>> z; ///< these three only with M, without which v and z/gamma are p
    std::optional<vector<T>> v;
    std::optional<vector<T>> residual;
    scalar delta{run}, gamma{run}, inverse{run}, zv{run}, qq{run}, rr{run}, size{run};
    scalar cosine{run}, cosine_before{run}, sine{run}, sine_before{run}, eta{run}, phi{run};
    scalar factor{run}; ///< of M^-1, with which r'M^-1 r was r'r at the start: no root of M's size
    scalar ww{run}, ww_before{run}, ww_next{run}; ///< squared norms of w, as M measures
    scalar across{run};                           ///< w'w_before
    scalar along{run}, length{run};               ///< what these make of the next w
    scalar diagonal{run}, first{run}, second{run}, third{run};
};

struct minres_method {
    template <linear_operator A, preconditioner<typename A::value_type> M>
    static solve_result
    solve(workspace_shelf& shelf, const A& a, const vector<typename A::value_type>& b,
          vector<typename A::value_type>& x, const solver_options& options, const M& m) {
        return solve_with<minres_loop<A, M>>(shelf, a, b, x, options, m);
    }
};

/// Solves A x = b for symmetric A, definite or not, with symmetric positive definite M. Memory,
/// kept for the next solve: 7 vectors, 10 with M. A is not tested for symmetry: without it the
/// recurrence parts from the true residual, which the result tells.
template <linear_operator A, preconditioner<typename A::value_type> M = identity>
solve_result minres(const A& a, const vector<typename A::value_type>& b,
                    vector<typename A::value_type>& x, const solver_options& options = {},
                    const M& m = {}) {
    return solve_by<minres_method>(a, b, x, options, m);
}

/// The same with a workspace of its own (solvers/iteration/kept_solver.hpp): minres_solver
/// solver(a, m, options).
template <linear_operator A, preconditioner<typename A::value_type> M = identity>
class minres_solver : public solver<minres_method, A, M> {
    using solver<minres_method, A, M>::solver;
};
template <linear_operator A>
minres_solver(const A&, solver_options = {}) -> minres_solver<A>;
template <linear_operator A, preconditioner<typename A::value_type> M>
minres_solver(const A&, const M&, solver_options = {}) -> minres_solver<A, M>;

} // namespace krylith
