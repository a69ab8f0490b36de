// The inverse of the matrix of the coarsest level.
#pragma once

#include <krylith/matrix/csr.hpp>

namespace krylith::detail {

/// Returns a full matrix G with A G A = A, for a symmetric positive semidefinite A: its inverse
/// where it has one. A pivot of A = L D L' that is lost in rounding counts as 0, which makes G
/// a generalised inverse where A has null vectors (Golub, Van Loan, Matrix Computations, 4th ed.,
/// section 4.2). Computed in double: n^3 operations for n rows, on the host.
template <class W>
[[nodiscard]] csr_matrix<W> dense_inverse(const csr_view<W>& a);

} // namespace krylith::detail
