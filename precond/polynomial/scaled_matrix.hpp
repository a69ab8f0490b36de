// A = D^1/2 (D^-1/2 A D^-1/2) D^1/2 in host memory: what a polynomial preconditioner needs of A.
#pragma once

#include <cstdint>
#include <vector>

#include <krylith/matrix/csr.hpp>

namespace krylith {

/// The scaling S = 2^(-exponent / 2) D^-1/2, where D = diag(A), and the largest entry of S is in
/// [1, 2): M^-1 r = 2^exponent S p(D^-1/2 A D^-1/2) S r then has moderate numbers inside, whatever
/// the size of A.
struct diagonal_scaling {
    std::vector<double> s;
    int exponent = 0; ///< even
    double lambda =
        1; ///< Gershgorin's bound of the eigenvalues of D^-1 A: max_i sum_j |a_ij| / a_ii
};

/// Throws input_error naming the first row whose diagonal entry is not positive and finite, or
/// whose sum is not finite, and the first entry of S below `least`, which the preconditioner's
/// precision can't hold. It is deterministic: a maximum has the same bits in any order. O(nnz).
template <class T>
[[nodiscard]] diagonal_scaling scale_by_diagonal(const csr_view<T>& matrix, double least);

/// Returns the values of (center I - D^-1/2 A D^-1/2) / radius on A's pattern. Where entries of a
/// diagonal are given in several parts the first one gets the center.
template <class W, class T>
[[nodiscard]] std::vector<W> shifted_values(const csr_view<T>& matrix,
                                            const diagonal_scaling& scaling, double center,
                                            double radius);

} // namespace krylith
