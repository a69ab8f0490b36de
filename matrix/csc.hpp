// Compressed sparse column matrix on the host: the format of factorisations, MATLAB and much of
// Fortran.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <krylith/matrix/csr.hpp>

namespace krylith {

/// A matrix by columns 0..columns-1; the entries of column j are [column_offsets[j],
/// column_offsets[j + 1]). rows <= 2^31 - 1. The arrays are those of the transposed matrix in CSR.
template <class T>
struct csc_matrix {
    using value_type = T;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::vector<std::int64_t> column_offsets{0}; ///< columns + 1 entries
    std::vector<std::int32_t> row_indices;       ///< nnz entries
    std::vector<T> values;                       ///< nnz entries

    [[nodiscard]] std::int64_t nnz() const noexcept {
        return static_cast<std::int64_t>(row_indices.size());
    }

    /// Compares sizes, patterns and values (so 0 == -0, and a NaN differs from itself).
    friend bool operator==(const csc_matrix&, const csc_matrix&) = default;
};

/// The same matrix in arrays that somebody else owns; see csr_view.
template <class T>
struct csc_view {
    using value_type = T;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::span<const std::int64_t> column_offsets = {}; ///< columns + 1 entries
    std::span<const std::int32_t> row_indices = {};    ///< nnz entries
    std::span<const T> values = {};                    ///< nnz entries

    csc_view() = default;
    csc_view(std::int64_t row_count, std::int64_t column_count,
             std::span<const std::int64_t> offsets, std::span<const std::int32_t> indices,
             std::span<const T> entries)
        : rows(row_count),
          columns(column_count),
          column_offsets(offsets),
          row_indices(indices),
          values(entries) {}
    csc_view(const csc_matrix<T>& m) // NOLINT: a matrix is a view of itself
        : csc_view(m.rows, m.columns, m.column_offsets, m.row_indices, m.values) {}

    [[nodiscard]] std::int64_t nnz() const noexcept {
        return static_cast<std::int64_t>(row_indices.size());
    }
};

/// Throws input_error naming the first offence, as for CSR with the roles of rows and columns
/// exchanged. O(columns + nnz).
template <class T>
void validate(const csc_view<T>& matrix);

template <class T>
void validate(const csc_matrix<T>& matrix) {
    validate(csc_view<T>(matrix));
}

} // namespace krylith
