// Products with the transposed matrix, by an operator of its own between the same vectors.
#pragma once

#include <krylith/matrix/csr.hpp>
#include <krylith/spmv/matrix_operator.hpp>

namespace krylith {

/// Gives the operator `a` of `matrix` transposed products (operator_options::transposed_products).
/// `options` are those that `a` was made with. It costs O(rows + columns + nnz) on the host, a
/// second operator, and 8 bytes a nonzero of host memory that stay. Throws input_error for 2^31
/// rows or more.
template <class T>
void add_transposed_products(matrix_operator<T>& a, const csr_view<T>& matrix,
                             const operator_options& options);

} // namespace krylith
