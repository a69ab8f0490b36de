// A matrix with its rows and columns in other orders, and its operator.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <krylith/matrix/csr.hpp>
#include <krylith/partition/ordering/reordering.hpp>
#include <krylith/spmv/matrix_operator.hpp>

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

/// Builds the operator where options.order is not none. The matrix must be valid. Throws
/// usage_error unless it is square.
template <class T>
[[nodiscard]] std::unique_ptr<matrix_operator<T>> build_reordered(const device_group& group,
                                                                  const csr_view<T>& matrix,
                                                                  const operator_options& options);

} // namespace krylith
