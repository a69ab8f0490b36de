#include <krylith/matrix/csr.hpp>

#include <algorithm>

#include <krylith/matrix/compressed/compressed_check.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith {

template <class T>
longest_row validate_pattern(const csr_view<T>& matrix) {
    return check_compressed(csr_names, matrix.rows, matrix.columns, matrix.row_offsets,
                            matrix.column_indices, matrix.column_indices.size());
}

template <class T>
longest_row validate(const csr_view<T>& matrix) {
    return check_compressed(csr_names, matrix.rows, matrix.columns, matrix.row_offsets,
                            matrix.column_indices, matrix.values.size());
}

template <class T>
bool canonical(const csr_view<T>& matrix) {
    bool ascending = true;
#pragma omp parallel for schedule(static) reduction(&& : ascending)
    for (std::int64_t row = 0; row < matrix.rows; ++row) {
        const std::int64_t end = matrix.row_offsets[as_size(row + 1)];
        for (std::int64_t k = matrix.row_offsets[as_size(row)] + 1; k < end; ++k) {
            ascending = ascending &&
                        matrix.column_indices[as_size(k - 1)] < matrix.column_indices[as_size(k)];
        }
    }
    return ascending;
}

template <class T>
std::vector<T> diagonal(const csr_view<T>& matrix) {
    const std::int64_t length = std::min(matrix.rows, matrix.columns);
    std::vector<T> result(as_size(length), T(0));
#pragma omp parallel for schedule(static)
    for (std::int64_t row = 0; row < length; ++row) {
        const std::int64_t end = matrix.row_offsets[as_size(row + 1)];
        // The entries are summed, so that duplicates count as they do in A x.
        for (std::int64_t k = matrix.row_offsets[as_size(row)]; k < end; ++k) {
            if (matrix.column_indices[as_size(k)] == row) {
                result[as_size(row)] += matrix.values[as_size(k)];
            }
        }
    }
    return result;
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template longest_row validate(const csr_view<T>&);                                             \
    template longest_row validate_pattern(const csr_view<T>&);                                     \
    template bool canonical(const csr_view<T>&);                                                   \
    template std::vector<T> diagonal(const csr_view<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
