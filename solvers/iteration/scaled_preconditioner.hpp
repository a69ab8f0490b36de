// The preconditioner c M^-1, where c is a power of two that is found when the solve begins. The
// size of M changes no method's iterates, but r'M^-1 r vanishes where A and M are of size 1e200.
#pragma once

#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include <krylith/solvers/concepts.hpp>

namespace krylith {

/// M has a square root, M = N N, so that half of it can stand on each side.
template <class M>
concept splittable = requires(const M& m) {
    { m.square_root() } -> std::same_as<M>;
};

/// c and its square root, as device scalars. While they are empty c is 1, at no cost.
struct inverse_scale {
    std::optional<scalar> whole;
    std::optional<scalar> root;

    /// Sets c = 2^exponent; the exponent is even.
    void set(execution& run, int exponent) {
        whole.emplace(run) = std::ldexp(1.0, exponent);
        root.emplace(run) = std::ldexp(1.0, exponent / 2);
    }
};

/// A preconditioner of the same kind as M, pointwise or general.
template <class M, class T>
class scaled_preconditioner {
public:
    /// `m` and `scale` must outlive the preconditioner.
    scaled_preconditioner(const M& m, const inverse_scale& scale)
        : m_(std::shared_ptr<const void>(), &m), factor_(&scale.whole), scale_(&scale) {}

    [[nodiscard]] term<T>
    operator()(const vector<T>& r) const requires pointwise_preconditioner<M, T> {
        term<T> result = (*m_)(r);
        if (!*factor_) return result;
        const scalar& c = **factor_;
        if (result.coefficient == no_register) return c.value() * result;
        return (scalar_value{&c.run(), result.coefficient} * c) * result;
    }

    void apply(execution& run, const vector<T>& r,
               vector<T>& z) const requires general_preconditioner<M, T> {
        m_->apply(run, r, z);
        if (*factor_) fused(run, z = **factor_ * z);
    }

    [[nodiscard]] scaled_preconditioner square_root() const requires splittable<M> {
        return {std::make_shared<const M>(m_->square_root()), &scale_->root, scale_};
    }

private:
    scaled_preconditioner(std::shared_ptr<const M> m, const std::optional<scalar>* factor,
                          const inverse_scale* scale)
        : m_(std::move(m)), factor_(factor), scale_(scale) {}

    std::shared_ptr<const M> m_; // the caller's, or a square root made here
    const std::optional<scalar>* factor_;
    const inverse_scale* scale_;
};

} // namespace krylith
