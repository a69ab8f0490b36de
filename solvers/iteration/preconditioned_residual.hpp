// The residual of CG with its preconditioned form.
#pragma once

#include <optional>

#include <krylith/solvers/concepts.hpp>

namespace krylith {

/// r and z = M^-1 r with r'r and r'z, kept up to date in as few passes as M allows: one of r where
/// M = I (z is r, and no vector is kept for it), one of r and z where M works entry by entry, else
/// one of r and those of M. M is a scaled_preconditioner.
template <class T, class M>
class preconditioned_residual {
public:
    template <linear_operator A>
    preconditioned_residual(execution& run, const A& a, const M& m)
        : run_(run), m_(m), r(a.make_range_vector()), rr(run) {
        if (m.is_identity()) return;
        z_.emplace(a.make_range_vector());
        rz_.emplace(run);
    }

    [[nodiscard]] const vector<T>& z() const { return z_ ? *z_ : r; }
    /// r'z, which is r'r where M = I.
    [[nodiscard]] const scalar& rz() const { return rz_ ? *rz_ : rr; }

    /// Enqueues p = z = M^-1 r and rho = r'z, where r is given.
    void start(vector<T>& p, scalar& rho) {
        if (!z_) return fused(run_, p = r, rho = dot(r, r));
        precondition<T>(run_, m_, r, *z_, rho = dot(r, *z_));
        fused(run_, p = *z_);
    }

    /// Enqueues r -= step, and z, r'r and r'z of the new r.
    void subtract(const term<T>& step) {
        if (!z_) return fused(run_, r -= step, rr = dot(r, r));
        if (const auto inverse = m_.pointwise(r)) {
            fused(run_, r -= step, *z_ = *inverse, rr = dot(r, r), *rz_ = dot(r, *z_));
        } else {
            fused(run_, r -= step, rr = dot(r, r));
            precondition<T>(run_, m_, r, *z_, *rz_ = dot(r, *z_));
        }
    }

    /// Stops the loop unless rho = r'z > 0, which r'r is by itself.
    void require_positive_definite(const scalar& rho) const {
        if (z_) require_positive(rho, loop_state::indefinite_preconditioner);
    }

private:
    execution& run_;
    const M& m_;
    std::optional<vector<T>> z_; ///< none where M = I
    std::optional<scalar> rz_;

public:
    vector<T> r;
    scalar rr; ///< r'r
};

} // namespace krylith
