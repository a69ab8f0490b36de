// Diagonal (Jacobi) preconditioning: M = diag(A).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <krylith/device/memory/unmoved.hpp>
#include <krylith/distributed/distributed_csr.hpp>
#include <krylith/precond/diagonal/diagonal_inverse.hpp>
#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/vector/kept/recording_identity.hpp>
#include <krylith/vector/vector.hpp>

namespace krylith {

/// Keeps 1 / a_ii on the devices: 8 n bytes (fp64) on the whole group, or on each device where
/// vectors are replicated; twice that from the first update on. Jacobi is pointwise: solvers apply
/// it inside their own updates. Where all 1 / a_ii are below 2^-130 or one is above 2^130 (float:
/// 2^-40, 2^40), M is 2^k diag(A) instead, which changes no iterates and keeps squares in range.
///
/// Constructors and updates throw input_error naming the first row whose diagonal entry, or its
/// inverse, is zero or not finite; a refused update changes nothing. They are collective.
template <class T>
class jacobi {
public:
    /// Takes the diagonal of the operator's own matrix on its devices, at the cost of one read of
    /// the matrix. Throws usage_error for a matrix-free operator.
    explicit jacobi(const matrix_operator<T>& a);

    /// Takes the diagonal of a matrix, for operators that don't know their own.
    jacobi(const matrix_operator<T>& a, const matrix_ref<T>& matrix);

    /// Takes new values, after those of the operator or of the same matrix have changed. Throws
    /// usage_error for an operator with another layout.
    void update(const matrix_operator<T>& a);
    void update(const matrix_ref<T>& matrix);

    /// Enqueues z = M^-1 r with the dots, in one pass.
    void apply(execution& run, const vector<T>& r, vector<T>& z,
               std::span<const reduction_into<T>> dots = {}) const;
    /// Returns M^-1 r, entry by entry: never nothing.
    [[nodiscard]] std::optional<term<T>> pointwise(const vector<T>& r) const {
        return krylith::pointwise(*inverse_, r);
    }
    /// The diagonal of M^-1, for kernels: an entry for each that the layout holds on the device.
    [[nodiscard]] const T* inverse(int rank) const { return inverse_->data(rank); }
    [[nodiscard]] static constexpr bool recordable() { return true; }
    /// Returns the bytes on the device that keeps most.
    [[nodiscard]] std::int64_t bytes() const;
    /// Returns the square root of M, for split preconditioning: M^-1/2 A M^-1/2. Throws input_error
    /// naming the first row with a negative diagonal entry.
    [[nodiscard]] jacobi square_root() const;

    [[nodiscard]] static constexpr const char* name() { return "jacobi"; }
    [[nodiscard]] const recording_identity* recording() const { return &identity_; }

private:
    explicit jacobi(layout_handle layout);
    /// Makes it of the diagonal that take(vector) writes.
    template <class Take>
    [[nodiscard]] static jacobi made_of(const layout_handle& layout, const Take& take);
    template <class Take>
    void update_by(const Take& take);
    void invert(vector<T>& diagonal);
    void moderate(vector<T>& inverse, int exponent) const;

    unmoved<std::unique_ptr<vector<T>>> inverse_;
    std::optional<vector<T>> spare_; ///< the inverse that an update makes, until it is accepted
    std::vector<buffer<inversion_report>> reports_; // [ranks]
    recording_identity identity_;
};

} // namespace krylith
