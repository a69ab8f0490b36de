// Conversions between the formats, and to the transposed matrix. COO to CSR is in matrix/coo.hpp.
//
// All validate their argument first (input_error), keep explicit zeros and duplicates, cost
// O(rows + columns + nnz), run on all OpenMP threads and give the same bits on any number of them.
// Entries that share a row and a column stay in order. Memory beside argument and result: 8 bytes a
// column (row, for CSC) and thread, of as many threads as that stays below the size of the result.
#pragma once

#include <krylith/matrix/coo.hpp>
#include <krylith/matrix/csc.hpp>
#include <krylith/matrix/csr.hpp>

namespace krylith {

/// Returns A^T; its columns ascend within each row, whether or not those of A do. rows must be at
/// most 2^31 - 1. It is a stable counting sort by columns: threads first count blocks of rows, then
/// place them ("ScanTrans": Wang, Liu, Hou, Feng, Parallel Transposition of Sparse Data Structures,
/// ICS 2016).
template <class T>
[[nodiscard]] csr_matrix<T> transpose(const csr_view<T>& matrix);

/// Returns the matrix by columns, rows ascending in each. rows must be at most 2^31 - 1.
template <class T>
[[nodiscard]] csc_matrix<T> to_csc(const csr_view<T>& matrix);

/// Returns the matrix by rows, columns ascending in each; it is canonical if no two entries are at
/// the same place. columns must be at most 2^31 - 1.
template <class T>
[[nodiscard]] csr_matrix<T> to_csr(const csc_view<T>& matrix);

/// Returns the entries in the order in which they are stored. Both sizes must be at most 2^31 - 1.
template <class T>
[[nodiscard]] coo_matrix<T> to_coo(const csr_view<T>& matrix);
template <class T>
[[nodiscard]] coo_matrix<T> to_coo(const csc_view<T>& matrix);

template <class T>
[[nodiscard]] csr_matrix<T> transpose(const csr_matrix<T>& matrix) {
    return transpose(csr_view<T>(matrix));
}
template <class T>
[[nodiscard]] csc_matrix<T> to_csc(const csr_matrix<T>& matrix) {
    return to_csc(csr_view<T>(matrix));
}
template <class T>
[[nodiscard]] csr_matrix<T> to_csr(const csc_matrix<T>& matrix) {
    return to_csr(csc_view<T>(matrix));
}
template <class T>
[[nodiscard]] coo_matrix<T> to_coo(const csr_matrix<T>& matrix) {
    return to_coo(csr_view<T>(matrix));
}
template <class T>
[[nodiscard]] coo_matrix<T> to_coo(const csc_matrix<T>& matrix) {
    return to_coo(csc_view<T>(matrix));
}

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
