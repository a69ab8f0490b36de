// Compressed sparse row matrix on the host: every matrix enters the library in this form, with
// arrays of its own (csr_matrix) or in somebody else's (csr_view).
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include <krylith/matrix/types/longest_row.hpp>
#include <krylith/matrix/types/value_type.hpp>

namespace krylith {

/// A matrix by rows 0..rows-1; the entries of row i are [row_offsets[i], row_offsets[i + 1]).
/// Offsets are 64 bits wide, columns 32 (columns <= 2^31 - 1, checked on the way in). Columns
/// ascend strictly within a row where canonical() holds.
template <class T>
struct csr_matrix {
    // A matrix of whole numbers can only be held and compared: it has no view.
    static_assert(std::is_arithmetic_v<T>,
                  "krylith: values are double or float (no complex numbers, no "
                  "other precisions, no const)");
    using value_type = T;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::vector<std::int64_t> row_offsets{0}; ///< rows + 1 entries
    std::vector<std::int32_t> column_indices; ///< nnz entries
    std::vector<T> values;                    ///< nnz entries

    [[nodiscard]] std::int64_t nnz() const noexcept {
        return static_cast<std::int64_t>(column_indices.size());
    }

    /// Compares sizes, patterns and values (so 0 == -0, and a NaN differs from itself).
    friend bool operator==(const csr_matrix&, const csr_matrix&) = default;
};

/// The same matrix in arrays that somebody else owns: the caller, a mapped file, another library.
/// Functions that read a matrix take a view; a csr_matrix converts to one. The arrays must live as
/// long as the view; no function of krylith keeps one after it returns.
template <class T>
struct csr_view {
    static_assert(is_value_type<T>, "krylith: values are double or float (no complex numbers, no "
                                    "other precisions, no const)");
    using value_type = T;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::span<const std::int64_t> row_offsets = {};    ///< rows + 1 entries
    std::span<const std::int32_t> column_indices = {}; ///< nnz entries
    std::span<const T> values = {};                    ///< nnz entries

    csr_view() = default;
    csr_view(std::int64_t row_count, std::int64_t column_count,
             std::span<const std::int64_t> offsets, std::span<const std::int32_t> indices,
             std::span<const T> entries)
        : rows(row_count),
          columns(column_count),
          row_offsets(offsets),
          column_indices(indices),
          values(entries) {}
    csr_view(const csr_matrix<T>& m) // NOLINT: a matrix is a view of itself
        : csr_view(m.rows, m.columns, m.row_offsets, m.column_indices, m.values) {}

    [[nodiscard]] std::int64_t nnz() const noexcept {
        return static_cast<std::int64_t>(column_indices.size());
    }
};

/// Throws input_error naming the first offence (row, position, value, what is allowed): sizes that
/// disagree, offsets that don't start at 0 or descend, columns out of range. Values may be
/// anything: the solver finds and reports a NaN. Returns the longest row, which plans need and
/// which would cost another pass over the offsets. O(rows + nnz).
template <class T>
longest_row validate(const csr_view<T>& matrix);

/// Validates likewise without reading `values`, which may be anywhere.
template <class T>
longest_row validate_pattern(const csr_view<T>& matrix);

/// Returns true if columns ascend strictly in every row (sorted, no duplicates). O(nnz).
template <class T>
[[nodiscard]] bool canonical(const csr_view<T>& matrix);

/// Returns the main diagonal, 0 where no entry is stored; its length is min(rows, columns). O(nnz).
template <class T>
[[nodiscard]] std::vector<T> diagonal(const csr_view<T>& matrix);

template <class T>
longest_row validate(const csr_matrix<T>& matrix) {
    return validate(csr_view<T>(matrix));
}
template <class T>
[[nodiscard]] bool canonical(const csr_matrix<T>& matrix) {
    return canonical(csr_view<T>(matrix));
}
template <class T>
[[nodiscard]] std::vector<T> diagonal(const csr_matrix<T>& matrix) {
    return diagonal(csr_view<T>(matrix));
}

} // namespace krylith
