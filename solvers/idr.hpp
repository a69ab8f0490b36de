// IDR(s) for general A: short recurrences with s shadow vectors, which come the nearer to GMRES the
// larger s is.
//
// Sonneveld and van Gijzen, SIAM J. Sci. Comput. 31(2), 2008; van Gijzen and Sonneveld, ACM Trans.
// Math. Softw. 38(1), 2011, algorithm 2 (biorthogonal directions), with one reduction for all of
// P'g (solvers/idr/shadow_space.hpp), and a safeguarded omega (Sleijpen and van der Vorst, Numer.
// Algorithms 10, 1995). An iteration makes one product; s + 1 of them are a cycle. With s = 4 and
// without preconditioner it moves 12 nnz + 273 n bytes (fp64) in the mean.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include <krylith/solvers/idr/shadow_space.hpp>
#include <krylith/solvers/idr/shadow_vectors.hpp>
#include <krylith/solvers/iteration/kept_solver.hpp>
#include <krylith/vector/basis.hpp>

namespace krylith {

template <linear_operator A, preconditioner<typename A::value_type> M>
class idr_loop : public default_loop<A, M> {
public:
    using T = typename A::value_type;
    static constexpr const char* name = "idr";

    idr_loop(iteration<A, M>& it, const solver_options& options)
        : run(it.run()),
          a(it.a()),
          m(it.m()),
          x(it.x()),
          s(shadow_count(a, options)),
          p(make_shadow_vectors<T>(s, [&] { return a.make_range_vector(); })),
          u(s, [&] { return a.make_range_vector(); }),
          g(s, [&] { return a.make_range_vector(); }) {
        if (!m.is_identity()) hat.emplace(a.make_range_vector());
    }

    [[nodiscard]] static execution_options sizes(const A& a, const solver_options& options) {
        const int s = shadow_count(a, options);
        return {.largest_batch = std::max(s + 1, execution_options{}.largest_batch),
                .array_size = shadow_layout{s}.size()};
    }
    /// A trip of the recorded loop has about as many kernels as that of other methods.
    [[nodiscard]] static solver_options loop_options(solver_options options) {
        if (options.unroll > 1 && options.shadow_vectors > 0)
            options.unroll = std::max(1, options.unroll / (3 * (options.shadow_vectors + 1)));
        return options;
    }

    void start() {
        for (int k = 0; k < s; ++k) {
            u[k].zero();
            g[k].zero();
        }
        omega = 1.0;
        compute(shadow_task::begin, 0);
    }

    void iterate() {
        auto& r = residual;
        multi_dot(run, p, s, r, static_cast<int>(at.rhs()));
        for (int k = 0; k < s; ++k) {
            compute(shadow_task::solve, k);
            new_direction(k);
            multi_dot(run, p, s, g[k], static_cast<int>(at.batch()));
            compute(shadow_task::extend, k);
            require_nonzero(pivot, scale, loop_state::breakdown);
            if (k > 0) multi_axpy(run, g, k, static_cast<int>(at.inside()), g[k]);
            if (k > 0) multi_axpy(run, u, k, static_cast<int>(at.inside()), u[k]);
            fused(run, r -= beta * g[k], x += beta * u[k], rr = dot(r, r));
            test_residual(rr);
        }
        precondition<T>(run, m, r, direction_);
        multiply(run, a, direction_, w, wr = dot(r, w), ww = dot(w, w));
        require_nonzero(wr, sqrt(ww * rr), loop_state::breakdown);
        // An omega whose w is nearly orthogonal to r would lose what r has in common with P.
        omega = (wr / ww) * maximum(constant(1), constant(0.7) * sqrt(ww * rr) / sqrt(wr * wr));
        fused(run, r -= omega * w, x += omega * direction_, rr = dot(r, r));
        test_residual(rr);
    }

    [[nodiscard]] vector<T>& r() { return residual; }
    [[nodiscard]] vector<T>& direction() { return direction_; }

private:
    [[nodiscard]] static int shadow_count(const auto& a, const solver_options& options) {
        return static_cast<int>(std::clamp<std::int64_t>(
            std::min<std::int64_t>(options.shadow_vectors, a.layout()->size()), 1, 1000));
    }

    /// u_k = omega M^-1 (r - G c) + U c and g_k = A u_k.
    void new_direction(int k) {
        fused(run, w = residual);
        multi_axpy(run, g, s, static_cast<int>(at.solution()), w);
        if (hat) {
            precondition<T>(run, m, w, *hat);
            fused(run, w = omega * *hat);
        } else {
            fused(run, w = omega * w);
        }
        multi_axpy(run, u, s, static_cast<int>(at.negative()), w);
        fused(run, u[k] = w, direction_ = w);
        multiply(run, a, direction_, g[k]);
    }

    void compute(shadow_task::kind_of kind, int column) {
        run.compute(shadow_task{kind, column, s}, roles);
    }
    [[nodiscard]] scalar_value constant(double c) { return {&run, run.constant(c)}; }

    execution& run;
    const scaled_operator<A>& a;
    scaled_preconditioner<M, T> m;
    vector<T>& x;
    const int s;
    const shadow_layout at{s};
    basis<T> p; ///< [s] shadow vectors
    basis<T> u; ///< [s] directions of x
    basis<T> g; ///< [s] A u
    vector<T> residual = a.make_range_vector();
    vector<T> w = a.make_range_vector();
    std::optional<vector<T>> hat; ///< M^-1 w; none where M = I
    vector<T> direction_ = a.make_domain_vector();
    scalar beta{run}, pivot{run}, scale{run}, omega{run}, rr{run}, wr{run}, ww{run};
    std::array<std::uint8_t, shadow_task::role_count> roles{beta.number(), pivot.number(),
                                                            scale.number()};
};

struct idr_method {
    template <linear_operator A, preconditioner<typename A::value_type> M>
    static solve_result
    solve(workspace_shelf& shelf, const A& a, const vector<typename A::value_type>& b,
          vector<typename A::value_type>& x, const solver_options& options, const M& m) {
        return solve_with<idr_loop<A, M>>(shelf, a, b, x, options, m);
    }
};

/// Solves A x = b with s = min(options.shadow_vectors, n), M on the right whatever
/// options.preconditioning says. The shadow vectors are a hash of the global row, the same on any
/// number of devices; the host makes and uploads them with the workspace (s n values). A breakdown
/// (p_k'g_k = 0, or a residual orthogonal to its product) restarts the recurrence from the true
/// residual; a second one without progress in between ends the solve. Memory, kept for the next
/// solve: 3 s + 4 vectors, 3 s + 5 with M.
template <linear_operator A, preconditioner<typename A::value_type> M = identity>
solve_result idr(const A& a, const vector<typename A::value_type>& b,
                 vector<typename A::value_type>& x, const solver_options& options = {},
                 const M& m = {}) {
    return solve_by<idr_method>(a, b, x, options, m);
}

/// The same with a workspace of its own (solvers/iteration/kept_solver.hpp): idr_solver solver(a,
/// m, options).
template <linear_operator A, preconditioner<typename A::value_type> M = identity>
class idr_solver : public solver<idr_method, A, M> {
    using solver<idr_method, A, M>::solver;
};
template <linear_operator A>
idr_solver(const A&, solver_options = {}) -> idr_solver<A>;
template <linear_operator A, preconditioner<typename A::value_type> M>
idr_solver(const A&, const M&, solver_options = {}) -> idr_solver<A, M>;

} // namespace krylith
