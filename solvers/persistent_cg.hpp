// Conjugate gradients in one persistent kernel a device, for small systems. The recurrences are
// those of launched_cg() with fewer kernel launches (solvers/persistent/persistent_loop.hpp): 11.7
// us an iteration instead of 19.0 for a 7-point stencil of 64^3 rows on one H200. cg() runs it
// where it is faster.
#pragma once

#include <optional>
#include <string>

#include <krylith/solvers/iteration/kept_solver.hpp>
#include <krylith/solvers/persistent/persistent_loop.hpp>

namespace krylith {

/// Says why persistent kernels can't apply this preconditioner; empty if they can. M must be I or
/// d .* r with a vector d, entry by entry. b is any range vector.
template <class T, preconditioner<T> M>
[[nodiscard]] std::string not_persistent_because(const M& m, const vector<T>& b) {
    if (is_identity(m)) return {};
    const std::optional<term<T>> z = pointwise_inverse<T, M>(m, b);
    if (z && z->v == &b && z->scale != nullptr && !z->negative) return {};
    return "preconditioner " + std::string(m.name()) +
           " is more than a product with a vector, entry by entry";
}

/// Says why CG with these can't run in persistent kernels; empty if it can.
template <class T, preconditioner<T> M>
[[nodiscard]] std::string not_persistent_because(const matrix_operator<T>& a, const M& m,
                                                 const vector<T>& b) {
    const std::string why_not = not_persistent_because(a);
    return why_not.empty() ? not_persistent_because(m, b) : why_not;
}

template <class T, preconditioner<T> M>
class persistent_cg_loop : public default_loop<matrix_operator<T>, M> {
public:
    using A = matrix_operator<T>;
    static constexpr const char* name = "persistent_cg";
    static constexpr bool needs_symmetric = true;
    static constexpr bool cycles = true;
    static constexpr bool whole = true;

    persistent_cg_loop(iteration<A, M>& it, const solver_options&)
        : run(it.run()),
          a(it.a()),
          m(it.m()),
          x(it.x()),
          rr(it.starting_rr()),
          loop(a.original()) {}

    [[nodiscard]] static execution_options sizes(const A&, const solver_options&) {
        return {.coefficients = true};
    }
    /// The kernel is the loop.
    [[nodiscard]] static solver_options loop_options(solver_options options) {
        options.mode = execution_mode::eager;
        return options;
    }

    void start() {
        if (m.is_identity())
            rho = rr;
        else
            precondition<T>(run, m, residual, z, rho = dot(residual, z));
        beta = 0.0;
    }

    void iterate() {
        persistent_registers registers{rho.number(), beta.number(), no_register};
        const vector<T>* inverse = nullptr;
        if (!m.is_identity()) {
            require_positive(rho, loop_state::indefinite_preconditioner);
            const term<T> scaled = *m.pointwise(residual);
            inverse = scaled.scale;
            if (scaled.coefficient != no_register) {
                scale = scalar_value{&run, scaled.coefficient};
                registers.scale = scale.number();
            }
        }
        loop.enqueue(run, a.factor(), x, residual, inverse, registers);
    }

    [[nodiscard]] vector<T>& r() { return residual; }
    [[nodiscard]] vector<T>& direction() { return z; }
    /// The devices repeat the iteration by themselves, as in a recorded loop.
    void conclude(solve_result& result) {
        result.recorded = true;
        result.form = "persistent";
    }

private:
    execution& run;
    const scaled_operator<A>& a;
    scaled_preconditioner<M, T> m;
    vector<T>& x;
    const scalar& rr;
    persistent_loop<T> loop;
    vector<T> residual = a.make_range_vector();
    vector<T> z = a.make_domain_vector();
    scalar rho{run}, beta{run}, scale{run};
};

struct persistent_cg_method {
    template <class T, preconditioner<T> M>
    static solve_result solve(workspace_shelf& shelf, const matrix_operator<T>& a,
                              const vector<T>& b, vector<T>& x, const solver_options& options,
                              const M& m) {
        check_square(a, "persistent_cg");
        const std::string why_not = not_persistent_because(a, m, b);
        if (!why_not.empty()) refuse_persistent_cg(why_not);
        return solve_with<persistent_cg_loop<T, M>>(shelf, a, b, x, options, m);
    }
};

/// Solves A x = b like launched_cg(), in persistent kernels. Throws usage_error where
/// not_persistent_because(a, m, b) gives a reason. options.mode and options.unroll have no effect.
template <class T, preconditioner<T> M = identity>
solve_result persistent_cg(const matrix_operator<T>& a, const vector<T>& b, vector<T>& x,
                           const solver_options& options = {}, const M& m = {}) {
    return solve_by<persistent_cg_method>(a, b, x, options, m);
}

/// The same with a workspace of its own (solvers/iteration/kept_solver.hpp).
template <linear_operator A, preconditioner<typename A::value_type> M = identity>
class persistent_cg_solver : public solver<persistent_cg_method, A, M> {
    using solver<persistent_cg_method, A, M>::solver;
};
template <linear_operator A>
persistent_cg_solver(const A&, solver_options = {}) -> persistent_cg_solver<A>;
template <linear_operator A, preconditioner<typename A::value_type> M>
persistent_cg_solver(const A&, const M&, solver_options = {}) -> persistent_cg_solver<A, M>;

} // namespace krylith
