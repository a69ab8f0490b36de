// What preconditioners that are made of a matrix have in common.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include <krylith/comm/communicator.hpp>
#include <krylith/device/memory/unmoved.hpp>
#include <krylith/distributed/distributed_csr.hpp>
#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/vector/kept/recording_identity.hpp>
#include <krylith/vector/vector.hpp>

namespace krylith {

namespace detail {

/// What such a preconditioner keeps and does. Each has a class of its own for that.
template <class T>
class matrix_work {
public:
    virtual ~matrix_work() = default;
    /// Takes new values, or throws and changes nothing. Returns whether recorded applications stay
    /// right.
    virtual bool update(const matrix_ref<T>& matrix) = 0;
    virtual void apply(execution& run, const vector<T>& r, vector<T>& z,
                       std::span<const reduction_into<T>> dots) = 0;
    [[nodiscard]] virtual bool recordable() const = 0;
    [[nodiscard]] virtual int kernels() const = 0;
    [[nodiscard]] virtual std::int64_t bytes() const = 0;
};

} // namespace detail

/// The part of a preconditioner (preconditioner.hpp) that is the same whatever it makes of its
/// matrix. Made of a matrix in host memory, it uploads that, and frees it afterwards; of rows on
/// the devices nothing visits the host, and they may be freed afterwards. Constructors are
/// collective. Move-only.
template <class T>
class matrix_preconditioner {
public:
    /// Takes new values of a matrix of the same pattern, unless the class takes others too. Throws
    /// what the constructor throws, and usage_error for another pattern or size; M is then what it
    /// was. Collective.
    void update(const matrix_ref<T>& matrix) {
        const auto take = [&] { return work_->update(matrix); };
        try {
            if (!(comm_ ? comm_->together(take) : take())) identity_.renew();
        } catch (...) { // recordings may have parts that have new values
            identity_.renew();
            throw;
        }
    }
    /// Enqueues z = M^-1 r with the dots, which have z as a factor.
    void apply(execution& run, const vector<T>& r, vector<T>& z,
               std::span<const reduction_into<T>> dots = {}) const {
        work_->apply(run, r, z, dots);
    }
    [[nodiscard]] bool recordable() const { return work_->recordable(); }
    /// The number of kernels that an application enqueues.
    [[nodiscard]] int kernels() const { return work_->kernels(); }
    /// Returns the bytes on the device that keeps most.
    [[nodiscard]] std::int64_t bytes() const { return work_->bytes(); }
    [[nodiscard]] const recording_identity* recording() const { return &identity_; }

protected:
    /// make() returns what it keeps and does. Drivers agree on how that ends, and on how updates
    /// do.
    template <class Make>
    matrix_preconditioner(const communicator& comm, const Make& make)
        : comm_(comm),
          work_(
              comm.together([&]() -> std::unique_ptr<detail::matrix_work<T>> { return make(); })) {}
    /// The same of what sees to that by itself.
    explicit matrix_preconditioner(std::unique_ptr<detail::matrix_work<T>> work)
        : work_(std::move(work)) {}

    /// What the constructor was given, as what it is.
    template <class Work>
    [[nodiscard]] Work& work() const {
        return static_cast<Work&>(*work_);
    }

private:
    std::optional<communicator> comm_; ///< none: the work sees to what drivers agree on
    unmoved<std::unique_ptr<detail::matrix_work<T>>> work_;
    recording_identity identity_;
};

} // namespace krylith
