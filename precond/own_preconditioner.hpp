// A user's own function z = M^-1 r as a preconditioner of all solvers.
//
//     const auto m = make_preconditioner(*a, [&](const preconditioner_call<double>& call) {
//         for (std::int64_t i = 0; i < call.rows.size(); ++i)
//             call.z[i] = call.r[i] / diagonal[call.rows.begin + i];
//     });
//     const solve_result result = cg(*a, b, x, {.rtol = 1e-8}, m);
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <krylith/partition/halo/halo_plan.hpp>
#include <krylith/precond/preconditioner.hpp>
#include <krylith/spmv/matrix_operator.hpp>

namespace krylith {

/// The part of z = M^-1 r that one call computes. Rows are the operator's: where it reorders them,
/// layout()->row_of_caller() tells the caller's number. M must be the same in every call of a solve
/// unless its options say that it varies, and for cg symmetric positive definite.
template <class T>
struct preconditioner_call {
    int rank;
    row_range rows; ///< global rows to compute: r[0] and z[0] are rows.begin
    const T* r;     ///< rows.size() entries, with ghosts around them as product_call::x has them
    T* z;           ///< rows.size() entries, all to be written; not r
    void* stream;   ///< cudaStream_t to enqueue on; null where r and z are host memory
};

template <class T>
using preconditioner_function = std::function<void(const preconditioner_call<T>&)>;

/// What a preconditioner function does, and where. It is not called for a device without rows.
enum class preconditioner_kind {
    /// Each device computes its own rows. On CUDA devices the function enqueues kernels on the
    /// stream and returns; it is called once for each application that is recorded, so it may not
    /// read values, wait, or allocate. On host devices it computes, on the worker thread of the
    /// device: calls for different devices run at once.
    on_device,
    /// The same, where the function enqueues in every solve what it enqueued in the one before,
    /// with the same arguments (the arrays may have other values): solvers then keep what they have
    /// recorded, and CUDA devices repeat it without calls.
    on_device_alike,
    /// The same rows, computed from host memory. On CUDA devices r and z are copied to the host and
    /// back, and the solve runs eagerly.
    on_host,
    /// One call for all n rows, in host memory and in the caller's order of rows, by the thread
    /// that called the solver (with several drivers, each has a call of its own): the result does
    /// not depend on the number of devices (a sweep over
    /// all rows, a factorisation, a solver of another library). The solve runs eagerly: an
    /// application waits for all devices, moves n entries to the host and n back (with replicated
    /// vectors n to each device), and the devices wait for the function.
    whole_on_host,
    /// One call for the rows of all local ranks, by the thread that called the solver, which may
    /// call collective functions of other libraries in it: a preconditioner of an MPI program. It
    /// is whole_on_host where one driver has all rows in the caller's order; with replicated
    /// vectors, or another order of rows, it is refused.
    local_on_host
};

struct own_preconditioner_options {
    preconditioner_kind kind = preconditioner_kind::on_device;
    std::string name = "own"; ///< what reports print
    std::int64_t bytes = 0;   ///< memory that the function keeps on the device that has most
    bool varies = false;      ///< differs from call to call: for fgmres and fcg only
    bool symmetric = true;    ///< false: cg, fcg and minres refuse it
};

/// The preconditioner that make_preconditioner() returns. Besides what the function keeps it has n
/// entries on the whole group (on each device where vectors are replicated and the function is
/// whole_on_host), and with a halo plan n entries and the ghosts.
template <class T>
class own_preconditioner {
public:
    own_preconditioner(const matrix_operator<T>& a, const halo_plan* plan,
                       preconditioner_function<T> function, own_preconditioner_options options);

    void apply(execution& run, const vector<T>& r, vector<T>& z,
               std::span<const reduction_into<T>> dots = {}) const;
    [[nodiscard]] bool recordable() const { return inverse_ && inverse_->recordable(); }
    [[nodiscard]] std::int64_t bytes() const { return bytes_; }
    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] bool varies() const { return varies_; }
    [[nodiscard]] bool symmetric() const { return symmetric_; }
    /// Null where the function is to be called in every solve: with on_device on CUDA devices.
    [[nodiscard]] const recording_identity* recording() const {
        return inverse_ && inverse_->recording() != nullptr ? &identity_ : nullptr;
    }

private:
    recording_identity identity_;
    void make(const matrix_operator<T>& a, const halo_plan* plan,
              preconditioner_function<T> function, preconditioner_kind of);
    void apply_whole(execution& run, const vector<T>& r, vector<T>& z,
                     std::span<const reduction_into<T>> dots) const;

    layout_handle layout_;
    std::string name_;
    std::int64_t bytes_;
    bool varies_;
    bool symmetric_;
    std::unique_ptr<matrix_operator<T>> inverse_; ///< null: whole_ computes
    preconditioner_function<T> whole_;
    bool local_ = false;              ///< whole_ computes the rows of local ranks alone
    std::unique_ptr<vector<T>> copy_; ///< r with ghosts, or z of whole_; may be null
    mutable std::vector<T> host_r_;   // of whole_
    mutable std::vector<T> host_z_;
};

/// Makes a preconditioner for solves with `a` (and any operator of its layout), which it may
/// outlive. Collective. New values are the function's own matter: it may refer to data that change
/// between solves. An exception thrown by the function ends the solve (as device_error where it ran
/// on a worker). Throws usage_error for an empty function.
template <class T>
[[nodiscard]] own_preconditioner<T>
make_preconditioner(const matrix_operator<T>& a,
                    std::type_identity_t<preconditioner_function<T>> function,
                    own_preconditioner_options options = {}) {
    return {a, nullptr, std::move(function), std::move(options)};
}

/// Does the same for a function that also reads the ghosts of `plan`. Each application then sends
/// them, and r is copied once (16 n bytes, fp64). Throws usage_error for a plan with another
/// partition than a.layout()->rows, and for whole_on_host, which has no ghosts.
template <class T>
[[nodiscard]] own_preconditioner<T>
make_preconditioner(const matrix_operator<T>& a, const halo_plan& plan,
                    std::type_identity_t<preconditioner_function<T>> function,
                    own_preconditioner_options options = {}) {
    return {a, &plan, std::move(function), std::move(options)};
}

} // namespace krylith
