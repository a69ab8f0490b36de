// The inverse of the matrix of the coarsest level.
#pragma once

#include <span>

#include <krylith/matrix/csr.hpp>

namespace krylith::detail {

/// Returns a full matrix G with A G A = A, for a symmetric positive semidefinite A: its inverse
/// where it has one. A pivot of A = L D L' that is lost in rounding counts as 0, which makes G
/// a generalised inverse where A has null vectors (Golub, Van Loan, Matrix Computations, 4th ed.,
/// section 4.2). Where v'A v is lost in rounding too, for the near-null vector v (empty: none), G
/// is the inverse on the complement of v, and G v = 0: rounding then can't blow up. Where
/// `indefinite` is given, it says whether a pivot is negative, and not for rounding in here: A is
/// not semidefinite, and those pivots count as 0. Computed in double: n^3 operations for n rows, on
/// the host.
template <class W>
[[nodiscard]] csr_matrix<W> dense_inverse(const csr_view<W>& a, std::span<const W> v = {},
                                          bool* indefinite = nullptr);

/// The same for any square A, by elimination with complete pivoting (section 3.4 there). Pivots
/// that are lost in rounding count as 0.
template <class W>
[[nodiscard]] csr_matrix<W> general_inverse(const csr_view<W>& a);

} // namespace krylith::detail
