// Coordinate format on the host: entries in any order, as files and assembly codes give them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <krylith/matrix/csr.hpp>

namespace krylith {

/// A matrix of coordinate entries: entry k adds values[k] at (row_indices[k], column_indices[k]),
/// counted from 0. The order is any; entries of the same place add up. rows and columns are at most
/// 2^31 - 1.
template <class T>
struct coo_matrix {
    using value_type = T;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::vector<std::int32_t> row_indices = {};    ///< one an entry
    std::vector<std::int32_t> column_indices = {}; ///< one an entry
    std::vector<T> values = {};                    ///< one an entry

    [[nodiscard]] std::int64_t entries() const noexcept {
        return static_cast<std::int64_t>(row_indices.size());
    }
};

/// The same matrix in arrays that somebody else owns; see csr_view.
template <class T>
struct coo_view {
    using value_type = T;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::span<const std::int32_t> row_indices = {};    ///< one an entry
    std::span<const std::int32_t> column_indices = {}; ///< one an entry
    std::span<const T> values = {};                    ///< one an entry

    coo_view() = default;
    coo_view(std::int64_t row_count, std::int64_t column_count,
             std::span<const std::int32_t> rows_of, std::span<const std::int32_t> columns_of,
             std::span<const T> entries)
        : rows(row_count),
          columns(column_count),
          row_indices(rows_of),
          column_indices(columns_of),
          values(entries) {}
    coo_view(const coo_matrix<T>& m) // NOLINT: a matrix is a view of itself
        : coo_view(m.rows, m.columns, m.row_indices, m.column_indices, m.values) {}

    [[nodiscard]] std::int64_t entries() const noexcept {
        return static_cast<std::int64_t>(row_indices.size());
    }
};

/// Throws input_error naming the first offence (position, value, what is allowed): sizes that
/// disagree or are out of range, an index out of range. Values may be anything. O(entries).
template <class T>
void validate(const coo_matrix<T>& matrix);

/// Returns the same matrix by rows, canonical: columns ascend, duplicates are summed in the order
/// in which they stand (so the same bits on any number of threads), explicit zeros are kept.
/// Validates first. O(rows + entries) for entries whose columns ascend within each row, plus a sort
/// of the rows where they don't. Memory beside the argument: the result, before summing.
template <class T>
[[nodiscard]] csr_matrix<T> to_csr(const coo_matrix<T>& matrix);

} // namespace krylith
