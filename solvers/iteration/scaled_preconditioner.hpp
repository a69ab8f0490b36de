// c M^-1, where c is a power of two that is found when the solve begins. No method minds the size
// of M, but r'M^-1 r vanishes where A and M are 1e200 times something.
#pragma once

#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include <krylith/solvers/concepts.hpp>

namespace krylith {

/// Has a square root, M = N N: can stand on both sides.
template <class M>
concept splittable = requires(const M& m) {
    { m.square_root() } -> std::same_as<M>;
};

/// c and its root, as device scalars; none: c = 1, at no cost.
struct inverse_scale {
    std::optional<scalar> whole;
    std::optional<scalar> root;

    /// c = 2^exponent, which is even.
    void set(execution& run, int exponent) {
        whole.emplace(run) = std::ldexp(1.0, exponent);
        root.emplace(run) = std::ldexp(1.0, exponent / 2);
    }
};

/// Is of the kind, pointwise or general, that M is of.
template <class M, class T>
class scaled_preconditioner {
public:
    /// Both outlive this.
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

    std::shared_ptr<const M> m_; // borrowed, or a root of its own
    const std::optional<scalar>* factor_;
    const inverse_scale* scale_;
};

} // namespace krylith
