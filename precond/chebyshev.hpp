// Chebyshev preconditioning: M^-1 = p(D^-1 A) D^-1, where D = diag(A) and p is a polynomial.
#pragma once

#include <string>

#include <krylith/precond/matrix/matrix_preconditioner.hpp>
#include <krylith/precond/polynomial/chebyshev_polynomial.hpp>

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
/// more than 2^250 times the smallest. A refused update changes nothing. Set-up is on
/// the devices: five passes over A, and the format of the kept matrix. Rows of A may be unsorted;
/// entries at one place add up.
template <class T>
class chebyshev : public matrix_preconditioner<T> {
public:
    /// `matrix` is what the operator was made of, in the caller's order of rows. An operator for
    /// several columns at once (spmv/column_operator.hpp) makes an M for these: apply()
    /// then takes columns of norm 1 or 0, and there is no update().
    chebyshev(const matrix_operator<T>& a, const matrix_ref<T>& matrix,
              const chebyshev_options& options = {});

    /// Returns the text that makes it, such as "chebyshev:degree=16:kind=first:ratio=256".
    [[nodiscard]] std::string name() const;
    /// The options, with the ratio that is used.
    [[nodiscard]] const chebyshev_options& options() const { return options_; }
    /// Gershgorin's bound.
    [[nodiscard]] double lambda() const;

private:
    chebyshev_options options_;
};

} // namespace krylith
