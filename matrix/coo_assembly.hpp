// Repeated assembly: coordinates are given once, then values as often as they change, for one
// gather each.
//
// PETSc's MatSetPreallocationCOO and MatSetValuesCOO do the same. A finite-element code lists
// the places of all its element entries once, in the order in which it computes them, duplicates
// and all; the permutation that sorts them by rows and columns is kept, so that each later assembly
// is
//
//     assembly.gather<double>(element_values, csr_values);
//     a->update(csr_values);
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <krylith/matrix/csr.hpp>

namespace krylith {

/// The pattern of a CSR matrix, canonical, and for each of its nonzeros the coordinate entries that
/// add up to it.
class coo_assembly {
public:
    /// Entry k is at (row_indices[k], column_indices[k]), counted from 0, in any order. Entries
    /// whose row or column is negative are left out, with their values (as in PETSc: rows that a
    /// boundary condition takes away need no second list). Throws input_error naming the first
    /// offence: sizes that disagree or are out of range, an index that is too large. O(rows +
    /// entries), plus a sort of the rows whose columns don't ascend. Memory: 8 bytes an entry, 12 a
    /// nonzero and 8 a row (8 a nonzero less without duplicates); the construction takes at most as
    /// much again. The indices may be freed afterwards.
    coo_assembly(std::int64_t rows, std::int64_t columns, std::span<const std::int32_t> row_indices,
                 std::span<const std::int32_t> column_indices);
    coo_assembly(std::int64_t rows, std::int64_t columns, std::span<const std::int64_t> row_indices,
                 std::span<const std::int64_t> column_indices);

    [[nodiscard]] std::int64_t rows() const noexcept { return rows_; }
    [[nodiscard]] std::int64_t columns() const noexcept { return columns_; }
    /// The number of coordinate entries given, those left out included.
    [[nodiscard]] std::int64_t entries() const noexcept { return entries_; }
    [[nodiscard]] std::int64_t nnz() const noexcept {
        return static_cast<std::int64_t>(column_indices_.size());
    }

    [[nodiscard]] std::span<const std::int64_t> row_offsets() const noexcept {
        return row_offsets_;
    }
    [[nodiscard]] std::span<const std::int32_t> column_indices() const noexcept {
        return column_indices_;
    }

    /// The coordinate entries grouped by the nonzero that they add up to, in each group in the
    /// order in which they were given.
    [[nodiscard]] std::span<const std::int64_t> order() const noexcept { return order_; }
    /// The first place of each group: group k is order()[first()[k]] to order()[first()[k + 1] -
    /// 1], with nnz + 1 entries. It is empty if no two entries are at the same place: then group k
    /// is order()[k].
    [[nodiscard]] std::span<const std::int64_t> first() const noexcept { return first_; }

    /// Sets csr_values[k] to the sum of the coordinate values of nonzero k, added in the order in
    /// which they were given: the bits of to_csr(), on any number of threads. Throws usage_error
    /// unless there are entries() coordinate values and nnz() others. O(entries), by all OpenMP
    /// threads.
    template <class T>
    void gather(std::span<const T> coo_values, std::span<T> csr_values) const;

    /// The matrix, without a copy of the pattern; it is valid as long as this object and the
    /// values.
    template <class T>
    [[nodiscard]] csr_view<T> view(std::span<const T> csr_values) const {
        return {rows_, columns_, row_offsets_, column_indices_, csr_values};
    }

    /// The matrix with arrays of its own.
    template <class T>
    [[nodiscard]] csr_matrix<T> matrix(std::span<const T> coo_values) const;

private:
    template <class Index>
    void build(std::span<const Index> row_indices, std::span<const Index> column_indices);
    void merge_duplicates(std::int64_t kept);

    std::int64_t rows_;
    std::int64_t columns_;
    std::int64_t entries_ = 0;
    std::vector<std::int64_t> row_offsets_;
    std::vector<std::int32_t> column_indices_;
    std::vector<std::int64_t> order_;
    std::vector<std::int64_t> first_;
};

} // namespace krylith
