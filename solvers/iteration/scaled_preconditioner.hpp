// The preconditioner c M^-1, where c is a power of two that is found when the solve begins. The
// size of M changes no method's iterates, but r'M^-1 r vanishes where A and M are of size 1e200.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <krylith/device/trace/trace_range.hpp>
#include <krylith/precond/erased/preconditioner_model.hpp>
#include <krylith/solvers/concepts.hpp>

namespace krylith {

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

/// What solvers apply: c M^-1, where M may be I. Whether it is, and whether M^-1 works entry by
/// entry, is asked when the solve is set up, so that one loop serves all M.
template <class M, class T>
class scaled_preconditioner {
public:
    /// `m` and `scale` must outlive the preconditioner.
    scaled_preconditioner(const M& m, const inverse_scale& scale)
        : m_(std::shared_ptr<const void>(), &m), factor_(&scale.whole), scale_(&scale) {}

    [[nodiscard]] bool is_identity() const { return krylith::is_identity(*m_); }

    /// Returns c M^-1 r entry by entry, or nothing where M can't.
    [[nodiscard]] std::optional<term<T>> pointwise(const vector<T>& r) const {
        const auto result = pointwise_inverse<T, M>(*m_, r);
        if (!result || !*factor_) return result;
        const scalar& c = **factor_;
        if (result->coefficient == no_register) return c.value() * *result;
        return (scalar_value{&c.run(), result->coefficient} * c) * *result;
    }

    void apply(execution& run, const vector<T>& r, vector<T>& z,
               std::span<const reduction_into<T>> dots) const {
        const trace_range range("preconditioner");
        if (const auto inverse = pointwise(r)) return fused(run, z = *inverse, dots);
        if constexpr (applied_preconditioner<M, T>) {
            if (!*factor_) return m_->apply(run, r, z, dots);
            m_->apply(run, r, z, {});
            fused(run, z = **factor_ * z, dots);
        }
    }

    [[nodiscard]] bool recordable() const {
        if constexpr (applied_preconditioner<M, T>) return m_->recordable();
        return true;
    }
    [[nodiscard]] std::int64_t bytes() const {
        if constexpr (applied_preconditioner<M, T>) return m_->bytes();
        return 0;
    }
    [[nodiscard]] std::string name() const { return m_->name(); }

    /// Throws usage_error naming M where it has no square root.
    [[nodiscard]] scaled_preconditioner square_root() const {
        if constexpr (splittable<M>)
            return {std::make_shared<const M>(m_->square_root()), &scale_->root, scale_};
        else
            detail::refuse_split(m_->name());
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
