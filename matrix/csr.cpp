#include <krylith/matrix/csr.hpp>

#include <algorithm>
#include <string>

#include <krylith/device/error.hpp>
#include <krylith/matrix/index_width.hpp>

namespace krylith {
namespace {

template <class T>
void validate_sizes(const csr_view<T>& matrix) {
    const auto refuse = [](const std::string& what) { throw input_error("CSR matrix: " + what); };
    if (matrix.rows < 0) {
        refuse("rows is " + std::to_string(matrix.rows) + ", allowed are 0 and more");
    }
    if (matrix.columns < 0 || matrix.columns > index_limit) {
        refuse("columns is " + std::to_string(matrix.columns) + ", allowed are 0 to " +
               std::to_string(index_limit));
    }
    // Compared without rows + 1, which overflows for the largest rows.
    if (matrix.row_offsets.empty() ||
        static_cast<std::int64_t>(matrix.row_offsets.size() - 1) != matrix.rows) {
        refuse("row_offsets has " + std::to_string(matrix.row_offsets.size()) +
               " entries, allowed is rows + 1, with rows = " + std::to_string(matrix.rows));
    }
    if (matrix.row_offsets.front() != 0) {
        refuse("row_offsets[0] is " + std::to_string(matrix.row_offsets.front()) +
               ", allowed is 0");
    }
    if (matrix.row_offsets.back() != matrix.nnz()) {
        refuse("row_offsets[" + std::to_string(matrix.rows) + "] is " +
               std::to_string(matrix.row_offsets.back()) +
               ", allowed is the number of entries: " + std::to_string(matrix.nnz()));
    }
}

template <class T>
void validate_offsets(const csr_view<T>& matrix) {
    const auto& offsets = matrix.row_offsets;
    std::int64_t first_bad = matrix.rows;
#pragma omp parallel for schedule(static) reduction(min : first_bad)
    for (std::int64_t row = 0; row < matrix.rows; ++row) {
        if (offsets[as_size(row + 1)] < offsets[as_size(row)]) {
            first_bad = std::min(first_bad, row);
        }
    }
    if (first_bad < matrix.rows) {
        throw input_error("CSR matrix: row " + std::to_string(first_bad) + " starts at " +
                          std::to_string(offsets[as_size(first_bad)]) + " and ends at " +
                          std::to_string(offsets[as_size(first_bad + 1)]) +
                          ": allowed are row_offsets that don't descend");
    }
}

template <class T>
void validate_columns(const csr_view<T>& matrix) {
    const std::int64_t nnz = matrix.nnz();
    std::int64_t first_bad = nnz;
#pragma omp parallel for schedule(static) reduction(min : first_bad)
    for (std::int64_t k = 0; k < nnz; ++k) {
        const std::int64_t column = matrix.column_indices[as_size(k)];
        if (column < 0 || column >= matrix.columns) {
            first_bad = std::min(first_bad, k);
        }
    }
    if (first_bad < nnz) {
        const auto& offsets = matrix.row_offsets;
        const auto row =
            std::upper_bound(offsets.begin(), offsets.end(), first_bad) - offsets.begin() - 1;
        throw input_error("CSR matrix: column_indices[" + std::to_string(first_bad) + "], in row " +
                          std::to_string(row) + ", is " +
                          std::to_string(matrix.column_indices[as_size(first_bad)]) +
                          ", allowed are 0 and more, below " + std::to_string(matrix.columns));
    }
}

} // namespace

template <class T>
void validate_pattern(const csr_view<T>& matrix) {
    validate_sizes(matrix);
    validate_offsets(matrix);
    validate_columns(matrix);
}

template <class T>
void validate(const csr_view<T>& matrix) {
    validate_pattern(matrix);
    if (matrix.values.size() != matrix.column_indices.size()) {
        throw input_error("CSR matrix: values has " + std::to_string(matrix.values.size()) +
                          " entries, allowed is as many as column_indices: " +
                          std::to_string(matrix.nnz()));
    }
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
        // A sum, so that duplicates count as they do in A x.
        for (std::int64_t k = matrix.row_offsets[as_size(row)]; k < end; ++k) {
            if (matrix.column_indices[as_size(k)] == row) {
                result[as_size(row)] += matrix.values[as_size(k)];
            }
        }
    }
    return result;
}

template void validate(const csr_view<double>&);
template void validate(const csr_view<float>&);
template void validate_pattern(const csr_view<double>&);
template void validate_pattern(const csr_view<float>&);
template bool canonical(const csr_view<double>&);
template bool canonical(const csr_view<float>&);
template std::vector<double> diagonal(const csr_view<double>&);
template std::vector<float> diagonal(const csr_view<float>&);

} // namespace krylith
