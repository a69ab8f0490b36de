// A matrix with its rows and columns in other orders.
#pragma once

#include <cstdint>
#include <vector>

#include <krylith/matrix/csr.hpp>
#include <krylith/partition/ordering/reordering.hpp>

namespace krylith {

template <class T>
struct reordered_matrix {
    csr_matrix<T> matrix;
    std::vector<std::int64_t> entry_source; ///< [nnz]: the entry of the old matrix that entry k is
};

/// Moves row i to rows->place[i] and column j to columns->place[j]; null leaves all where they are.
/// Columns ascend within rows; duplicates stay in order. The matrix must be valid, and each order a
/// permutation of its rows or columns. O(nnz log(longest row)), rows in parallel.
template <class T>
[[nodiscard]] reordered_matrix<T> reordered(const csr_view<T>& matrix, const permutation* rows,
                                            const permutation* columns);

/// Moves row and column i to order.place[i]. Columns ascend within rows; duplicates stay in order.
/// The matrix must be valid and square, and order a permutation of its rows. O(nnz log(longest
/// row)), rows in parallel.
template <class T>
[[nodiscard]] reordered_matrix<T> reordered(const csr_view<T>& matrix, const permutation& order) {
    return reordered(matrix, &order, &order);
}

} // namespace krylith
