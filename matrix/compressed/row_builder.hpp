// A CSR matrix from a rule for its rows, built in parallel, with no memory but the matrix.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>

#include <krylith/device/error.hpp>
#include <krylith/matrix/compressed/first_touch.hpp>
#include <krylith/matrix/csr.hpp>
#include <krylith/matrix/files/available_memory.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith {

/// Throws input_error where the memory can't hold `bytes` of a matrix.
inline void require_memory(std::int64_t rows, double bytes) {
    if (const auto available = static_cast<double>(available_memory()); bytes > available) {
        throw input_error("a matrix of " + std::to_string(rows) + " rows needs " +
                          bytes_in_words(bytes) + " of memory or more, available are " +
                          available_in_words());
    }
}

/// Builds a matrix: row_length(row) says how many entries a row has; fill_row(row, columns, values)
/// writes them, columns ascending. Both run on all OpenMP threads and must not throw. Throws
/// input_error where the memory can't hold the matrix.
template <class T, class RowLength, class FillRow>
[[nodiscard]] csr_matrix<T> build_by_rows(std::int64_t rows, std::int64_t columns,
                                          const RowLength& row_length, const FillRow& fill_row) {
    require_memory(rows, static_cast<double>(rows) * sizeof(std::int64_t));
    csr_matrix<T> csr;
    csr.rows = rows;
    csr.columns = columns;
    csr.row_offsets.clear();
    resize_in_parallel(csr.row_offsets, as_size(rows) + 1);
    std::int64_t* const offsets = csr.row_offsets.data();
#pragma omp parallel for schedule(static)
    for (std::int64_t row = 0; row < rows; ++row) {
        offsets[row + 1] = row_length(row);
    }
    std::partial_sum(offsets, offsets + rows + 1, offsets);
    const std::int64_t nnz = offsets[rows];
    require_memory(rows, static_cast<double>(nnz) * (sizeof(std::int32_t) + sizeof(T)));
    resize_in_parallel(csr.column_indices, as_size(nnz));
    resize_in_parallel(csr.values, as_size(nnz));
    std::int32_t* const column_indices = csr.column_indices.data();
    T* const values = csr.values.data();
#pragma omp parallel for schedule(static)
    for (std::int64_t row = 0; row < rows; ++row) {
        fill_row(row, column_indices + offsets[row], values + offsets[row]);
    }
    return csr;
}

} // namespace krylith
