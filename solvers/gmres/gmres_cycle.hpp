// The start and the end of a cycle of GMRES(m), the same for every way to orthogonalise the basis.
//
// Saad and Schultz, SIAM J. Sci. Stat. Comput. 7(3), 1986; Saad, Iterative Methods, 2nd ed.,
// algorithms 6.9, 9.4 and 9.5.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include <krylith/solvers/gmres/hessenberg_task.hpp>
#include <krylith/solvers/iteration/kept_solver.hpp>
#include <krylith/solvers/iteration/preconditioned_operator.hpp>
#include <krylith/vector/basis.hpp>

namespace krylith {

/// Returns m = min(options.restart, n, 1000), at least 1.
template <linear_operator A>
[[nodiscard]] int restart_length(const A& a, const solver_options& options) {
    return static_cast<int>(std::clamp<std::int64_t>(
        std::min<std::int64_t>(options.restart, a.layout()->size()), 1, 1000));
}

/// The vectors of a cycle, m + 6 with b and x (m + 7 with M, m + 8 with M split), and K = L^-1 A
/// R^-1. An estimate is the squared norm of L^-1 r; `ratio` scales it to r as it was when the cycle
/// began. The true residual decides.
template <linear_operator A, preconditioner<typename A::value_type> M>
class gmres_cycle : public default_loop<A, M> {
public:
    using T = typename A::value_type;
    static constexpr bool cycles = true;
    static constexpr bool stops_at_once = false; // end() adds to x however the cycle ended

    /// With `keeps_z` the loop itself keeps what A multiplies.
    gmres_cycle(iteration<A, M>& it, int length, side on_side, bool keeps_z = false)
        : run(it.run()),
          a_(it.a()),
          b_(it.keep_rhs()),
          x_(it.x()),
          starting_rr_(it.starting_rr()),
          restart(length),
          m_(it.m()),
          k_(a_, m_, on_side),
          v(length + 1,
            [&] {
                if (k_.on_right()) return a_.make_range_vector(); // R^-1 v is what A multiplies
                auto domain = a_.make_domain_vector();
                domain.promise_single_reader();
                return domain;
            }),
          w(a_.make_range_vector()),
          r_(a_.make_range_vector()),
          u_(a_.make_domain_vector()),
          hat_(keeps_z ? std::nullopt : k_.make_hat()) {}

    void start() { rr_ = starting_rr_; }
    [[nodiscard]] vector<T>& r() { return r_; }
    [[nodiscard]] vector<T>& direction() { return u_; }

    void conclude(solve_result& result) {
        if (result.converged() && result.iterations > 0 && run.get(lucky_.number()) != 0)
            result.reason = reason::happy_breakdown;
    }

protected:
    /// Enqueues w = K v_j.
    void multiply(int j) { k_.multiply(run, k_.right(run, v[j], hat_), w); }

    /// Enqueues a task on the Hessenberg matrix with the scalars that it reads and writes.
    void compute(hessenberg_task::kind_of kind, int column) {
        run.compute(hessenberg_task{kind, column, restart}, roles_);
    }

    void begin() {
        k_.left(run, r_, w, rho_ = dot(w, w)); // v_0 = L^-1 r / ||L^-1 r||
        ratio = divide_or_zero(rr_, rho_);
        inverse = divide_or_zero(rho_, rho_ * sqrt(rho_));
        columns_ = 0.0;
        lucky_ = 0.0;
        fused(run, v[0] = inverse * w);
    }

    /// Adds R^-1 V y to x, however the cycle ended.
    void end() {
        add([this] {
            combine(v);
            fused(run, x_ += k_.right(run, u_, hat_));
        });
    }

    /// Adds Z y to x, however the cycle ended, where the basis Z was kept.
    void end(const basis<T>& z) {
        add([&] {
            combine(z);
            fused(run, x_ += u_);
        });
    }

    execution& run;

private:
    /// u = Z y.
    void combine(const basis<T>& z) {
        w.zero();
        const hessenberg_layout h{restart};
        multi_axpy(run, z, restart, static_cast<int>(h.solution()), w);
        fused(run, u_ = w);
    }

    template <class Step>
    void add(const Step& to_x) {
        run.flush();
        run.unguarded([&] {
            compute(hessenberg_task::back_substitute, 0);
            to_x();
            fused(run, u_ = x_);
            residual(run, a_, b_, u_, r_, rr_ = dot(r_, r_));
            finish_cycle(rr_);
            run.flush();
        });
    }

    const scaled_operator<A>& a_;
    const vector<T>& b_;
    vector<T>& x_;
    const scalar& starting_rr_;

protected:
    const int restart;

private:
    scaled_preconditioner<M, T> m_;
    preconditioned_operator<scaled_operator<A>, scaled_preconditioner<M, T>> k_;

protected:
    basis<T> v; ///< [m + 1]
    vector<T> w;
    scalar norm{run};     ///< the scalar in the role hessenberg_task::norm
    scalar inverse{run};  ///< 1 / the norm of the new vector (hessenberg_task::inverse)
    scalar estimate{run}; ///< the squared norm of L^-1 r
    scalar ratio{run};    ///< the squared norm of r over that of L^-1 r

private:
    vector<T> r_;
    vector<T> u_;
    std::optional<vector<T>> hat_;
    scalar rho_{run};
    scalar rr_{run};
    scalar columns_{run};
    scalar lucky_{run};
    std::array<std::uint8_t, hessenberg_task::role_count> roles_{
        rho_.number(),     norm.number(),    estimate.number(),
        columns_.number(), inverse.number(), lucky_.number()};
};

} // namespace krylith
