// What any_preconditioner keeps: the operations of a preconditioner, whatever its type.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <krylith/distributed/distributed_csr.hpp>
#include <krylith/precond/preconditioner.hpp>
#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/vector/kept/recording_identity.hpp>

namespace krylith::detail {

[[noreturn]] void refuse_split(const std::string& name);
/// `from` says where the new values would come from.
[[noreturn]] void refuse_update(const std::string& name, const std::string& from);

template <class T>
class preconditioner_model {
public:
    virtual ~preconditioner_model() = default;
    virtual void apply(execution& run, const vector<T>& r, vector<T>& z,
                       std::span<const reduction_into<T>> dots) const = 0;
    [[nodiscard]] virtual std::optional<term<T>> pointwise(const vector<T>& r) const = 0;
    [[nodiscard]] virtual bool recordable() const = 0;
    [[nodiscard]] virtual std::int64_t bytes() const = 0;
    [[nodiscard]] virtual std::string name() const = 0;
    [[nodiscard]] virtual const recording_identity* recording() const = 0;
    [[nodiscard]] virtual int kernels() const = 0;
    [[nodiscard]] virtual bool varies() const = 0;
    [[nodiscard]] virtual bool symmetric() const = 0;
    [[nodiscard]] virtual std::vector<multigrid_level_facts> levels() const = 0;
    [[nodiscard]] virtual std::unique_ptr<preconditioner_model> square_root() const = 0;
    virtual void update(const matrix_operator<T>& a) = 0;
    virtual void update(const matrix_ref<T>& matrix) = 0;
    virtual void solved(std::int64_t iterations) = 0;
};

/// Held is M, or M& or const M& for one that others own.
template <class Held, class T>
class held_preconditioner final : public preconditioner_model<T> {
    using M = std::remove_cvref_t<Held>;

public:
    explicit held_preconditioner(Held m) : m_(std::forward<Held>(m)) {}

    void apply(execution& run, const vector<T>& r, vector<T>& z,
               std::span<const reduction_into<T>> dots) const override {
        m_.apply(run, r, z, dots);
    }
    [[nodiscard]] std::optional<term<T>> pointwise(const vector<T>& r) const override {
        return pointwise_inverse<T, M>(m_, r);
    }
    [[nodiscard]] bool recordable() const override { return m_.recordable(); }
    [[nodiscard]] std::int64_t bytes() const override { return m_.bytes(); }
    [[nodiscard]] std::string name() const override { return m_.name(); }
    [[nodiscard]] const recording_identity* recording() const override { return identity_of(m_); }
    [[nodiscard]] int kernels() const override { return kernels_of(m_); }
    [[nodiscard]] bool varies() const override { return krylith::varies(m_); }
    [[nodiscard]] bool symmetric() const override { return may_be_symmetric(m_); }
    [[nodiscard]] std::vector<multigrid_level_facts> levels() const override {
        if constexpr (requires { m_.levels(); })
            return m_.levels();
        else
            return {};
    }

    [[nodiscard]] std::unique_ptr<preconditioner_model<T>> square_root() const override {
        if constexpr (splittable<M>)
            return std::make_unique<held_preconditioner<M, T>>(std::as_const(m_).square_root());
        else
            refuse_split(name());
    }

    void update(const matrix_operator<T>& a) override {
        if constexpr (requires { m_.update(a); })
            m_.update(a);
        else
            refuse_update(name(), "an operator");
    }
    void update(const matrix_ref<T>& matrix) override {
        if constexpr (requires { m_.update(matrix); })
            return m_.update(matrix);
        else if constexpr (requires(const csr_view<T>& on_host) { m_.update(on_host); })
            if (matrix.on_host() != nullptr) return m_.update(*matrix.on_host());
        refuse_update(name(), "a matrix");
    }
    void solved([[maybe_unused]] std::int64_t iterations) override {
        if constexpr (requires { m_.solved(iterations); }) m_.solved(iterations);
    }

private:
    Held m_;
};

/// What stands in place of the model in an any_preconditioner that was moved from: each function
/// throws usage_error.
template <class T>
[[nodiscard]] preconditioner_model<T>* moved_model() noexcept;

template <class T>
struct model_deleter {
    void operator()(preconditioner_model<T>* model) const noexcept {
        if (model != moved_model<T>()) delete model;
    }
};

/// Owns a model, unless it is that of all that were moved from.
template <class T>
using model_pointer = std::unique_ptr<preconditioner_model<T>, model_deleter<T>>;

template <class T>
[[nodiscard]] model_pointer<T> moved_from() noexcept {
    return model_pointer<T>(moved_model<T>());
}

} // namespace krylith::detail
