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

/// The preconditioner of the solve under way, which may be another object in the next, with c and
/// its square root as device scalars.
template <class M>
struct preconditioner_in_use {
    explicit preconditioner_in_use(execution& run) : whole(run), root(run) {}

    const M* m = nullptr;
    bool scaled = false; ///< otherwise c is 1, at no cost
    scalar whole;
    scalar root;

    /// Sets c = 2^exponent; the exponent is even.
    void scale(int exponent) {
        scaled = true;
        whole = std::ldexp(1.0, exponent);
        root = std::ldexp(1.0, exponent / 2);
    }
};

/// What solvers apply: c M^-1, where M may be I. Whether it is, and whether M^-1 works entry by
/// entry, is asked when the solve is set up, so that one loop serves all M.
template <class M, class T>
class scaled_preconditioner {
public:
    /// `used` must outlive the preconditioner.
    explicit scaled_preconditioner(const preconditioner_in_use<M>& used) : used_(&used) {}

    [[nodiscard]] bool is_identity() const { return krylith::is_identity(m()); }

    /// Returns c M^-1 r entry by entry, or nothing where M can't.
    [[nodiscard]] std::optional<term<T>> pointwise(const vector<T>& r) const {
        const auto result = pointwise_inverse<T, M>(m(), r);
        if (!result || !used_->scaled) return result;
        const scalar& c = factor();
        if (result->coefficient == no_register) return c.value() * *result;
        return (scalar_value{&c.run(), result->coefficient} * c) * *result;
    }

    void apply(execution& run, const vector<T>& r, vector<T>& z,
               std::span<const reduction_into<T>> dots) const {
        const trace_range range("preconditioner");
        if (const auto inverse = pointwise(r)) return fused(run, z = *inverse, dots);
        if constexpr (applied_preconditioner<M, T>) {
            if (!used_->scaled) return m().apply(run, r, z, dots);
            m().apply(run, r, z, {});
            fused(run, z = factor() * z, dots);
        }
    }

    [[nodiscard]] bool recordable() const {
        if constexpr (applied_preconditioner<M, T>) return m().recordable();
        return true;
    }
    [[nodiscard]] std::int64_t bytes() const {
        if constexpr (applied_preconditioner<M, T>) return m().bytes();
        return 0;
    }
    [[nodiscard]] std::string name() const { return m().name(); }

    /// Throws usage_error naming M where it has no square root.
    [[nodiscard]] scaled_preconditioner square_root() const {
        if constexpr (splittable<M>)
            return {std::make_shared<const M>(m().square_root()), used_};
        else
            detail::refuse_split(m().name());
    }

private:
    scaled_preconditioner(std::shared_ptr<const M> root, const preconditioner_in_use<M>* used)
        : root_(std::move(root)), used_(used) {}

    [[nodiscard]] const M& m() const { return root_ ? *root_ : *used_->m; }
    [[nodiscard]] const scalar& factor() const { return root_ ? used_->root : used_->whole; }

    std::shared_ptr<const M> root_; // of the caller's M, made here, where it is split
    const preconditioner_in_use<M>* used_;
};

} // namespace krylith
