// Scaling of rows and columns to one size, as a preconditioner that stands on both sides.
//
//     const equilibration<double> m(*a, matrix);
//     const solve_result result = gmres(*a, b, x, {.preconditioning = side::split}, m);
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include <krylith/device/memory/unmoved.hpp>
#include <krylith/distributed/distributed_csr.hpp>
#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/vector/kept/recording_identity.hpp>
#include <krylith/vector/vector.hpp>

namespace krylith {

/// M^-1 = S^2 with a positive diagonal S, such that in S A S the largest magnitude of row i and
/// column i together is 1, but for 5% where sizes span 10^30 (Ruiz, RAL-TR-2001-034, with one S for
/// both sides, so that a symmetric A stays symmetric). It needs no diagonal entries, unlike
/// jacobi, and is meant for matrices whose rows are of different sizes, such as those of circuits.
/// Rows and columns without entries have 1 in S. Where entries of M^-1 span more than T can hold
/// the smallest are raised. Where all are below 2^-130 or one is above 2^130 (float: 2^-40, 2^40),
/// M is 2^k of that, and S A S as many times larger, which changes no iterates and keeps squares in
/// range. Entries of A at one place add up.
///
/// It keeps n values on the whole group, or on each device where vectors are replicated, and is
/// pointwise: solvers apply it inside their own updates. S is computed on the devices, in 12 passes
/// over the logarithms of A and of A', which take 24 bytes a nonzero meanwhile. The constructor and
/// update() are collective.
template <class T>
class equilibration {
public:
    /// `matrix` is what the operator was made of, in the caller's order of rows. Throws usage_error
    /// for one of another size.
    equilibration(const matrix_operator<T>& a, const matrix_ref<T>& matrix);

    /// Takes new values of the same matrix. Throws usage_error for one of another size.
    void update(const matrix_ref<T>& matrix);

    /// Enqueues z = M^-1 r with the dots, in one pass.
    void apply(execution& run, const vector<T>& r, vector<T>& z,
               std::span<const reduction_into<T>> dots = {}) const;
    /// Returns M^-1 r, entry by entry: never nothing.
    [[nodiscard]] std::optional<term<T>> pointwise(const vector<T>& r) const {
        return krylith::pointwise(*inverse_, r);
    }
    [[nodiscard]] static constexpr bool recordable() { return true; }
    /// Returns the bytes on the device that keeps most.
    [[nodiscard]] std::int64_t bytes() const;
    /// Returns S^-1, for split preconditioning: S A S.
    [[nodiscard]] equilibration square_root() const;

    [[nodiscard]] static constexpr const char* name() { return "equilibration"; }
    [[nodiscard]] const recording_identity* recording() const { return &identity_; }

private:
    explicit equilibration(layout_handle layout);
    void take(const matrix_ref<T>& matrix);

    unmoved<std::unique_ptr<vector<T>>> inverse_; ///< S^2; the values of S in a square root
    recording_identity identity_;
};

} // namespace krylith
