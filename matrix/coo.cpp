#include <krylith/matrix/coo.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>

#include <krylith/device/error.hpp>
#include <krylith/matrix/compressed/canonical_rows.hpp>
#include <krylith/matrix/compressed/coo_rows.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith {
namespace {

void validate_indices(const char* name, std::span<const std::int32_t> indices, std::int64_t limit) {
    const auto count = static_cast<std::int64_t>(indices.size());
    std::int64_t first_bad = count;
#pragma omp parallel for schedule(static) reduction(min : first_bad)
    for (std::int64_t k = 0; k < count; ++k) {
        if (indices[as_size(k)] < 0 || indices[as_size(k)] >= limit) {
            first_bad = std::min(first_bad, k);
        }
    }
    if (first_bad < count) {
        throw input_error(std::string("COO matrix: ") + name + "[" + std::to_string(first_bad) +
                          "] is " + std::to_string(indices[as_size(first_bad)]) +
                          ", allowed are 0 and more, below " + std::to_string(limit));
    }
}

} // namespace

template <class T>
void validate(const coo_matrix<T>& matrix) {
    check_index_size("COO matrix: rows", matrix.rows);
    check_index_size("COO matrix: columns", matrix.columns);
    if (matrix.column_indices.size() != matrix.row_indices.size() ||
        matrix.values.size() != matrix.row_indices.size()) {
        throw input_error("COO matrix: row_indices, column_indices and values have " +
                          std::to_string(matrix.row_indices.size()) + ", " +
                          std::to_string(matrix.column_indices.size()) + " and " +
                          std::to_string(matrix.values.size()) +
                          " entries, allowed is the same number");
    }
    validate_indices("row_indices", matrix.row_indices, matrix.rows);
    validate_indices("column_indices", matrix.column_indices, matrix.columns);
}

template <class T>
csr_matrix<T> to_csr(const coo_matrix<T>& matrix) {
    validate(matrix);
    csr_matrix<T> csr = by_rows<T>(
        matrix.rows, matrix.columns, matrix.entries(),
        [rows = matrix.row_indices.data()](std::int64_t k) { return rows[k]; },
        [columns = matrix.column_indices.data()](std::int64_t k) { return columns[k]; },
        [values = matrix.values.data()](std::int64_t k) { return values[k]; });
    make_canonical(csr);
    return csr;
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void validate(const coo_matrix<T>&);                                                  \
    template csr_matrix<T> to_csr(const coo_matrix<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
