// K = L^-1 A R^-1: a preconditioner on the left, on the right, or half on each side.
#pragma once

#include <optional>

#include <krylith/solvers/concepts.hpp>
#include <krylith/solvers/iteration/scaled_preconditioner.hpp>
#include <krylith/solvers/options.hpp>

namespace krylith {

/// The product K v is made in two steps, because solvers need R^-1 v for the solution too. Vectors
/// that K multiplies come from make_domain_vector().
template <linear_operator A, class M>
class preconditioned_operator {
public:
    using T = typename A::value_type;

    /// Throws usage_error naming M for side::split where it has no square root.
    preconditioned_operator(const A& a, const M& m, side on_side)
        : a_(a), m_(m), plain_(is_identity(m)), side_(on_side) {
        if (plain_) return;
        if (on_side == side::split) {
            if constexpr (splittable<M>)
                root_.emplace(m.square_root());
            else
                detail::refuse_split(m.name());
        }
        if (on_left()) scratch_.emplace(a.make_range_vector());
    }

    [[nodiscard]] bool on_right() const { return !plain_ && side_ != side::left; }
    [[nodiscard]] bool on_left() const { return !plain_ && side_ != side::right; }

    /// Returns a vector for R^-1 v; none if R = I.
    [[nodiscard]] std::optional<vector<T>> make_hat() const {
        if (!on_right()) return std::nullopt;
        auto hat = a_.make_domain_vector();
        hat.promise_single_reader();
        return hat;
    }

    /// Returns R^-1 v: in `hat`, or v itself if R = I.
    const vector<T>& right(execution& run, const vector<T>& v,
                           std::optional<vector<T>>& hat) const {
        if (!on_right()) return v;
        precondition<T>(run, one_side(), v, *hat);
        return *hat;
    }

    /// Enqueues y = L^-1 A v_hat, with dots that have y as a factor.
    template <class... Dots>
    void multiply(execution& run, const vector<T>& v_hat, vector<T>& y, const Dots&... dots) const {
        if (!on_left()) return krylith::multiply(run, a_, v_hat, y, dots...);
        krylith::multiply(run, a_, v_hat, *scratch_);
        precondition<T>(run, one_side(), *scratch_, y, dots...);
    }

    /// Enqueues y = L^-1 r, with dots.
    template <class... Dots>
    void left(execution& run, const vector<T>& r, vector<T>& y, const Dots&... dots) const {
        if (on_left())
            precondition<T>(run, one_side(), r, y, dots...);
        else
            fused(run, y = r, dots...);
    }

private:
    /// Returns what stands on a side of A: M, or its square root where M is split.
    [[nodiscard]] const M& one_side() const { return root_ ? *root_ : m_; }

    const A& a_;
    const M& m_;
    bool plain_; ///< M = I
    side side_;
    std::optional<M> root_;
    mutable std::optional<vector<T>> scratch_;
};

} // namespace krylith
