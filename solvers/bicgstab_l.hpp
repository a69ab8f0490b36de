// BiCGStab(l) for general A: l steps of BiCG, then a polynomial of degree l that minimises the
// residual. With l = 2 it takes eigenvalues in conjugate pairs, those of convection, on which the
// polynomials of degree 1 of BiCGStab stagnate.
//
// Sleijpen and Fokkema, Electron. Trans. Numer. Anal. 1, 1993, algorithm 3.1. An iteration is a
// step of BiCG, with two products; l of them and the polynomial are a cycle. With l = 2 and without
// preconditioner an iteration moves 24 nnz + 236 n bytes (fp64).
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

#include <krylith/solvers/iteration/kept_solver.hpp>
#include <krylith/solvers/iteration/preconditioned_operator.hpp>

namespace krylith {

template <linear_operator A, preconditioner<typename A::value_type> M>
class bicgstab_l_loop : public default_loop<A, M> {
public:
    using T = typename A::value_type;
    static constexpr const char* name = "bicgstab_l";

    bicgstab_l_loop(iteration<A, M>& it, const solver_options& options)
        : run(it.run()),
          a(it.a()),
          m(it.m()),
          x(it.x()),
          starting_rr(it.starting_rr()),
          k(a, m, options.preconditioning),
          l(options.polynomial_degree) {
        for (int j = 0; j <= l; ++j) {
            const bool multiplied = j < l && !k.on_right(); // with M on the right the hats are
            for (auto* of : {&u, &r_})
                of->push_back(multiplied ? a.make_domain_vector() : a.make_range_vector());
            for (auto* of : {&u_hat, &r_hat}) of->push_back(j < l ? k.make_hat() : std::nullopt);
            if (j > 0)
                for (auto* of : {&square_, &along_, &gamma_}) of->emplace_back(run);
            for (int i = 1; i < j; ++i) tau.emplace_back(run);
        }
    }

    /// A trip of the recorded loop has about as many kernels as that of other methods.
    [[nodiscard]] static solver_options loop_options(solver_options options) {
        if (options.unroll > 1 && options.polynomial_degree > 0)
            options.unroll = std::max(1, options.unroll / (3 * options.polynomial_degree));
        return options;
    }

    void start() {
        k.left(run, r_[0], r_[l], coming = dot(r_[l], r_[l]));
        shadow_square = coming;
        ratio = starting_rr / coming;
        fused(run, r_[0] = r_[l], shadow = r_[l]);
        u[0].zero();
        alpha = 0.0;
        rho = 1.0;
        gamma(l) = -1.0;
    }

    void iterate() {
        rho = -(gamma(l) * rho);
        for (int j = 0; j < l; ++j) {
            extend(j);
            if (j + 1 < l) test_estimate(rr * ratio);
            const auto& r_j = k.right(run, r_[j], r_hat[j]);
            k.multiply(run, r_j, r_[j + 1], coming = dot(shadow, r_[j + 1]),
                       length = dot(r_[j + 1], r_[j + 1]));
            if (j + 1 < l)
                require_nonzero(coming, sqrt(shadow_square * length), loop_state::breakdown);
        }
        minimise();
        test_residual(rr * ratio);
        require_nonzero(gamma(l), sqrt(divide_or_zero(length, square(l))), loop_state::breakdown);
        require_nonzero(coming, sqrt(shadow_square * rr), loop_state::breakdown);
    }

    [[nodiscard]] vector<T>& r() { return r_[0]; }
    [[nodiscard]] vector<T>& direction() { return u_hat[0] ? *u_hat[0] : u[0]; }

private:
    /// Step j of BiCG: u_j and K u_j are new, and x follows the change of r_0.
    void extend(int j) {
        beta = alpha * (coming / rho);
        rho = coming;
        for (int i = 0; i <= j; ++i) fused(run, u[i] = r_[i] - beta * u[i]);
        for (int i = 0; i < j && u_hat[i]; ++i)
            fused(run, *u_hat[i] = *r_hat[i] - beta * *u_hat[i]);
        const auto& u_j = k.right(run, u[j], u_hat[j]);
        k.multiply(run, u_j, u[j + 1], sigma = dot(shadow, u[j + 1]),
                   length = dot(u[j + 1], u[j + 1]));
        require_nonzero(sigma, sqrt(shadow_square * length), loop_state::breakdown);
        alpha = rho / sigma;
        fused(run, x += alpha * direction(), r_[0] -= alpha * u[1], rr = dot(r_[0], r_[0]));
        for (int i = 1; i <= j; ++i) fused(run, r_[i] -= alpha * u[i + 1]);
        for (int i = 0; i < j && r_hat[i]; ++i) fused(run, *r_hat[i] -= alpha * *u_hat[i + 1]);
    }

    /// Makes r_1 ... r_l orthogonal, and r_0 orthogonal to them.
    void minimise() {
        length = rr;
        for (int j = 1; j <= l; ++j) {
            if (j > 1) fused(run, along(j) = dot(r_[j], r_[1]));
            for (int i = 1; i < j; ++i) {
                scalar& by = tau_of(i, j);
                by = divide_or_zero(along(j), square(i));
                if (r_hat[j]) fused(run, *r_hat[j] -= by * hat(i));
                if (i + 1 < j)
                    fused(run, r_[j] -= by * r_[i], along(j) = dot(r_[j], r_[i + 1]));
                else
                    fused(run, r_[j] -= by * r_[i], along(j) = dot(r_[0], r_[j]),
                          square(j) = dot(r_[j], r_[j]));
            }
            if (j == 1) fused(run, along(1) = dot(r_[0], r_[1]), square(1) = dot(r_[1], r_[1]));
        }
        for (int j = 1; j <= l; ++j) along(j) = divide_or_zero(along(j), square(j));
        for (int j = l; j >= 1; --j) {
            gamma(j) = along(j);
            for (int i = j + 1; i <= l; ++i) gamma(j) = gamma(j) - tau_of(j, i) * gamma(i);
        }
        for (int j = 1; j < l; ++j) {
            square(j) = gamma(j + 1);
            for (int i = j + 1; i < l; ++i) square(j) = square(j) + tau_of(j, i) * gamma(i + 1);
        }
        fused_update<T> of_x;
        add_terms(
            of_x, x, [&](int j) { return (j == 0 ? gamma(1) : square(j)) * hat(j); }, 0, l);
        enqueue(run, of_x);
        fused_update<T> of_r;
        add_terms(
            of_r, r_[0], [&](int j) { return -along(j) * r_[j]; }, 1, l + 1);
        of_r.add(rr = dot(r_[0], r_[0]));
        of_r.add(coming = dot(shadow, r_[0]));
        enqueue(run, of_r);
        fused_update<T> of_u;
        add_terms(
            of_u, u[0], [&](int j) { return -gamma(j) * u[j]; }, 1, l + 1);
        enqueue(run, of_u);
    }

    // By the numbers of the vectors r_1 ... r_l: (r_j, r_j), and where that is not needed any more
    // the coefficient of r_j in x; (r_j, r_0), and then that of r_j in r_0; that of u_j in u_0.
    [[nodiscard]] scalar& square(int j) { return square_[static_cast<std::size_t>(j - 1)]; }
    [[nodiscard]] scalar& along(int j) { return along_[static_cast<std::size_t>(j - 1)]; }
    [[nodiscard]] scalar& gamma(int j) { return gamma_[static_cast<std::size_t>(j - 1)]; }
    /// M^-1 r_i, or r_i itself where M is not on the right.
    [[nodiscard]] const vector<T>& hat(int i) const { return r_hat[i] ? *r_hat[i] : r_[i]; }
    [[nodiscard]] scalar& tau_of(int i, int j) { return tau[(j - 1) * (j - 2) / 2 + i - 1]; }

    /// target += the terms from first to last - 1, in statements of three.
    template <class Term>
    static void add_terms(fused_update<T>& update, vector<T>& target, const Term& term, int first,
                          int last) {
        for (int from = first; from < last; from += max_terms - 1) {
            linear_combination<T> sum = target;
            for (int j = from; j < std::min(from + max_terms - 1, last); ++j) sum = sum + term(j);
            update.add(target = sum);
        }
    }

    execution& run;
    const scaled_operator<A>& a;
    scaled_preconditioner<M, T> m;
    vector<T>& x;
    const scalar& starting_rr;
    preconditioned_operator<scaled_operator<A>, scaled_preconditioner<M, T>> k;
    const int l;
    vector<T> shadow = a.make_range_vector();
    std::deque<vector<T>> u;                           ///< [l + 1]: u_(j + 1) = K u_j
    std::deque<vector<T>> r_;                          ///< [l + 1]: r_(j + 1) = K r_j
    std::deque<std::optional<vector<T>>> u_hat, r_hat; ///< R^-1 u_j and R^-1 r_j
    std::deque<scalar> square_, along_, gamma_, tau;
    scalar alpha{run}, beta{run}, rho{run}, coming{run}, sigma{run}, length{run}, rr{run},
        shadow_square{run}, ratio{run};
};

struct bicgstab_l_method {
    template <linear_operator A, preconditioner<typename A::value_type> M>
    static solve_result
    solve(workspace_shelf& shelf, const A& a, const vector<typename A::value_type>& b,
          vector<typename A::value_type>& x, const solver_options& options, const M& m) {
        return solve_with<bicgstab_l_loop<A, M>>(shelf, a, b, x, options, m);
    }
};

/// Solves A x = b with l = options.polynomial_degree. Breakdowns are those of bicgstab(). The
/// residual is tested after every step, but an iteration inside a cycle ends the solve only where
/// it has converged or was the last allowed one. Memory, kept for the next solve: 2 l + 4 vectors;
/// with M on the right 2 l more, on the left 1 more. With M on the left the recurrence follows the
/// preconditioned residual, scaled to the true one at each start.
template <linear_operator A, preconditioner<typename A::value_type> M = identity>
solve_result bicgstab_l(const A& a, const vector<typename A::value_type>& b,
                        vector<typename A::value_type>& x, const solver_options& options = {},
                        const M& m = {}) {
    return solve_by<bicgstab_l_method>(a, b, x, options, m);
}

/// The same with a workspace of its own (solvers/iteration/kept_solver.hpp): bicgstab_l_solver
/// solver(a, m, options).
template <linear_operator A, preconditioner<typename A::value_type> M = identity>
class bicgstab_l_solver : public solver<bicgstab_l_method, A, M> {
    using solver<bicgstab_l_method, A, M>::solver;
};
template <linear_operator A>
bicgstab_l_solver(const A&, solver_options = {}) -> bicgstab_l_solver<A>;
template <linear_operator A, preconditioner<typename A::value_type> M>
bicgstab_l_solver(const A&, const M&, solver_options = {}) -> bicgstab_l_solver<A, M>;

} // namespace krylith
