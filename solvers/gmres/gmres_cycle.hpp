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

#include <krylith/solvers/iteration.hpp>
#include <krylith/solvers/iteration/preconditioned_operator.hpp>
#include <krylith/vector/basis.hpp>
#include <krylith/vector/scalar/hessenberg.hpp>

namespace krylith {

/// Returns m = min(options.restart, n, 1000), at least 1.
template <linear_operator A>
[[nodiscard]] int restart_length(const A& a, const solver_options& options) {
    return static_cast<int>(std::clamp<std::int64_t>(
        std::min<std::int64_t>(options.restart, a.layout()->size()), 1, 1000));
}

/// The solve with its m + 4 vectors (m + 5 with M, m + 6 with M split) and K = L^-1 A R^-1.
template <linear_operator A, preconditioner<typename A::value_type> M>
class gmres_cycle {
public:
    using T = typename A::value_type;

    /// `sizes` are the batches and the array that the steps need, at least a hessenberg_layout's.
    gmres_cycle(const A& a, const M& m, const vector<T>& b, vector<T>& x,
                const solver_options& options, int restart, const execution_options& sizes)
        : it_(a, m, b, x, options, sizes, true),
          x_(x),
          restart_(restart),
          m_(it_.m()),
          k_(it_.a(), m_, options.preconditioning),
          v(restart + 1,
            [&] {
                if (k_.on_right())
                    return it_.a().make_range_vector(); // R^-1 v is what A multiplies
                auto domain = it_.a().make_domain_vector();
                domain.promise_single_reader();
                return domain;
            }),
          w(it_.a().make_range_vector()),
          r_(it_.a().make_range_vector()),
          u_(it_.a().make_domain_vector()),
          hat_(k_.make_hat()) {}

    [[nodiscard]] execution& run() { return it_.run(); }

    /// `steps` makes v_1 ... v_m and the columns of H, and tests estimates. An estimate is the
    /// squared norm of L^-1 r; `ratio` scales it to r as it was when the cycle began. The true
    /// residual decides.
    template <class Steps>
    [[nodiscard]] solve_result solve(const Steps& steps) {
        auto result = it_.solve(
            r_, u_, [&] { rr_ = it_.starting_rr(); },
            [&] {
                begin();
                steps();
                end();
            });
        if (result.converged() && run().get(lucky_.number()) != 0)
            result.reason = reason::happy_breakdown;
        return result;
    }

    /// Enqueues w = K v_j.
    void multiply(int j) { k_.multiply(run(), k_.right(run(), v[j], hat_), w); }

    /// Enqueues a task on the Hessenberg matrix with the scalars that it reads and writes.
    void compute(array_task::kind_of kind, int column) {
        run().compute({kind, column, restart_, {}}, roles_);
    }

private:
    void begin() {
        k_.left(run(), r_, w, rho_ = dot(w, w)); // v_0 = L^-1 r / ||L^-1 r||
        ratio = divide_or_zero(rr_, rho_);
        inverse = divide_or_zero(rho_, rho_ * sqrt(rho_));
        columns_ = 0.0;
        lucky_ = 0.0;
        fused(run(), v[0] = inverse * w);
    }

    /// Adds R^-1 V y to x, however the cycle ended.
    void end() {
        run().flush();
        run().unguarded([&] {
            compute(array_task::back_substitute, 0);
            w.zero();
            const hessenberg_layout h{restart_};
            multi_axpy(run(), v, restart_, static_cast<int>(h.solution()), w);
            fused(run(), u_ = w);
            fused(run(), x_ += k_.right(run(), u_, hat_));
            fused(run(), u_ = x_);
            residual(run(), it_.a(), it_.rhs(), u_, r_, rr_ = dot(r_, r_));
            finish_cycle(rr_);
            run().flush();
        });
    }

    iteration<A, M> it_;
    vector<T>& x_;
    int restart_;
    scaled_preconditioner<M, T> m_;
    preconditioned_operator<scaled_operator<A>, scaled_preconditioner<M, T>> k_;

public:
    basis<T> v; ///< [m + 1]
    vector<T> w;
    scalar norm{run()};     ///< the scalar in the role array_task::norm
    scalar inverse{run()};  ///< 1 / the norm of the new vector (array_task::inverse)
    scalar estimate{run()}; ///< the squared norm of L^-1 r
    scalar ratio{run()};    ///< the squared norm of r over that of L^-1 r

private:
    vector<T> r_;
    vector<T> u_;
    std::optional<vector<T>> hat_;
    scalar rho_{run()};
    scalar rr_{run()};
    scalar columns_{run()};
    scalar lucky_{run()};
    std::array<std::uint8_t, array_task::role_count> roles_{rho_.number(),     norm.number(),
                                                            estimate.number(), columns_.number(),
                                                            inverse.number(),  lucky_.number()};
};

} // namespace krylith
