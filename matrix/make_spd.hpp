// A symmetric positive definite matrix from any square one, so that conjugate gradients can run on
// it.
#pragma once

#include <krylith/matrix/csr.hpp>

namespace krylith {

/// Returns a symmetric, strictly diagonally dominant matrix with a positive diagonal, so positive
/// definite by Gershgorin's theorem: S = (A + A') / 2 off the diagonal, on it the larger of A's own
/// entry and 1 + 1/64 times the sum of the row's other magnitudes (1 where that is 0). Every row
/// has its diagonal entry; zeros that A stores are kept. It serves to compare products and solvers
/// on the pattern of A: the solutions are not those of A x = b. Scaling A by 2^k scales S alike,
/// but for rows that are zero. The bits are the same for any number of threads. Throws input_error
/// unless A is square, valid and canonical, or where the memory can't hold the result. O(nnz);
/// memory beside argument and result: that of transpose().
template <class T>
[[nodiscard]] csr_matrix<T> make_spd(const csr_matrix<T>& a);

} // namespace krylith
