// The product of a block in compressed rows with several columns at once.
#pragma once

#include <cstdint>

#include <krylith/device/loops/backend_choice.hpp>
#include <krylith/sparse/csr/column_counts.hpp>
#include <krylith/sparse/device_matrix/compressed_rows.hpp>
#include <krylith/vector/execution/kernel_context.hpp>

namespace krylith {

/// Y = alpha A X + beta Y; plain data for kernels. beta = 0 never reads Y.
template <class T>
struct column_product_operands {
    int columns; ///< k: 2, 4, 8 or 16
    std::int64_t rows;
    std::int64_t nonzeros;
    compressed_rows<T> matrix;
    const T* x; ///< [local columns][k]
    T* y;       ///< [rows][k]
    T alpha;
    T beta;
};

template <class T>
struct column_product : column_product_operands<T> {
    kernel_context common;
};

KRYLITH_HOST_AND_CUDA(
    /// Enqueues the product. Bytes: those of the matrix once, and (1 to 3) k sizeof(T) a row.
    template <class T> void multiply_columns(device& device, const column_product<T>& a);)

} // namespace krylith
