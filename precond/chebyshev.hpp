// Chebyshev preconditioning: M^-1 = p(D^-1 A) D^-1, where D = diag(A) and p is a polynomial.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <krylith/device/memory/unmoved.hpp>
#include <krylith/matrix/csr.hpp>
#include <krylith/precond/polynomial/chebyshev_polynomial.hpp>
#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/vector/kept/recording_identity.hpp>
#include <krylith/vector/vector.hpp>

namespace krylith {

enum class chebyshev_precision {
    fp32, ///< float, also where the solver works in double
    fp64  ///< double; not for a solver in float
};

struct chebyshev_options {
    int degree = 16; ///< of the residual polynomial, from 1: degree - 1 products an application
    chebyshev_kind kind = chebyshev_kind::first;
    double ratio = 0; ///< first kind: upper / lower end of the interval; 0: degree^2
    chebyshev_precision precision = chebyshev_precision::fp32;
};

namespace detail {
template <class T>
class chebyshev_work;
}

/// A polynomial preconditioner for symmetric positive definite A. An application of degree D makes
/// D - 1 products and one inner product (the norm of r), so that CG needs a factor of up to D fewer
/// iterations, each with the same two inner products. The number of iterations is the same on any
/// number of devices. The first kind is for CG, the fourth for smoothing
/// (chebyshev_polynomial.hpp).
///
/// It keeps a matrix (center I - D^-1/2 A D^-1/2) / radius in its own precision, as an operator of
/// the same layout, and four vectors. Between r and z in double everything is float with
/// precision fp32: an application then moves 4.25 nnz + 20.5 n bytes for each product (`sell`), and
/// about 80 n besides. r is scaled by its norm on the way in, so that it may be of any size whose
/// square is a normal number, as solvers see to.
///
/// Eigenvalues of D^-1 A are taken to be at most Gershgorin's bound, max_i sum_j |a_ij| / a_ii.
/// Where all 1 / a_ii are below 2^-130 or one is above 2^130 (float: 2^-40, 2^40), M is 2^k of
/// that, which changes no iterates and keeps squares in range.
///
/// Constructors and updates throw usage_error for options out of range and for another matrix or
/// pattern, and input_error naming the first row whose diagonal entry is not positive, or with fp32
/// more than 2^250 times the smallest. A refused update changes nothing. Set-up costs O(nnz) on the
/// host and the upload. Rows of A may be unsorted; entries at one place add up.
template <class T>
class chebyshev {
public:
    /// `matrix` is what the operator was made of, in the caller's order of rows. An operator for
    /// several columns at once (spmv/columns/column_operator.hpp) makes an M for these: apply()
    /// then takes columns of norm 1 or 0, and there is no update().
    chebyshev(const matrix_operator<T>& a, const csr_view<T>& matrix,
              const chebyshev_options& options = {});
    chebyshev(chebyshev&&) noexcept;
    chebyshev& operator=(chebyshev&&) noexcept;
    ~chebyshev();

    /// Takes new values of the same pattern.
    void update(const csr_view<T>& matrix);

    /// Enqueues z = M^-1 r with the dots, which are computed in the pass that writes z.
    void apply(execution& run, const vector<T>& r, vector<T>& z,
               std::span<const reduction_into<T>> dots = {}) const;

    [[nodiscard]] bool recordable() const;
    /// Products, a sum for every second one, and the passes in and out.
    [[nodiscard]] int kernels() const { return options_.degree + options_.degree / 2 + 3; }
    /// Returns the bytes on the device that keeps most.
    [[nodiscard]] std::int64_t bytes() const;
    /// Returns the text that makes it, such as "chebyshev:degree=16:kind=first:ratio=256".
    [[nodiscard]] std::string name() const;

    /// The options, with the ratio that is used.
    [[nodiscard]] const chebyshev_options& options() const { return options_; }
    /// Gershgorin's bound.
    [[nodiscard]] double lambda() const;
    [[nodiscard]] const recording_identity* recording() const { return &identity_; }

private:
    recording_identity identity_;
    chebyshev_options options_;
    unmoved<std::unique_ptr<detail::chebyshev_work<T>>> work_;
};

} // namespace krylith
