// CSR matrices in arrays of another program, with any type of integer as index.
//
//     const auto mine = adapt_csr(rows, columns, row_offsets, column_indices, values);
//     const auto a = make_operator(group, mine);
//     ...
//     a->update(mine.view().values); // after new values were written to the same array
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/matrix/csr.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/spmv/matrix_operator.hpp>

namespace krylith {

/// The number of the first row, the first column and the first entry: 0 as in C, or 1 as in
/// Fortran.
enum class index_base : std::int32_t { zero = 0, one = 1 };

/// A csr_view together with the arrays behind it that had to be made. Moving keeps the view valid.
template <class T>
class adapted_csr {
public:
    using value_type = T;
    /// `offsets` and `columns` stand in the place of those of the view, unless they are null.
    adapted_csr(csr_view<T> view, std::unique_ptr<std::int64_t[]> offsets,
                std::unique_ptr<std::int32_t[]> columns)
        : offsets_(std::move(offsets)), columns_(std::move(columns)), view_(view) {
        if (offsets_) view_.row_offsets = {offsets_.get(), as_size(view.rows) + 1};
        if (columns_) view_.column_indices = {columns_.get(), view.values.size()};
    }
    adapted_csr(adapted_csr&&) noexcept = default;
    adapted_csr& operator=(adapted_csr&&) noexcept = default;
    adapted_csr(const adapted_csr&) = delete;
    adapted_csr& operator=(const adapted_csr&) = delete;
    ~adapted_csr() = default;

    /// The view is valid as long as this object and the arrays that it was made from.
    [[nodiscard]] const csr_view<T>& view() const noexcept { return view_; }
    operator const csr_view<T>&() const noexcept { return view_; } // NOLINT: it is one

    /// The bytes of the arrays that were made; 0 where all are the caller's.
    [[nodiscard]] std::size_t copied_bytes() const noexcept {
        return (offsets_ ? view_.row_offsets.size_bytes() : 0) +
               (columns_ ? view_.column_indices.size_bytes() : 0) + converted_bytes_;
    }
    /// Keeps `converted`, of `bytes` bytes, which holds arrays of the view. It is for adapters that
    /// convert first.
    void keep(std::shared_ptr<const void> converted, std::size_t bytes) noexcept {
        converted_ = std::move(converted);
        converted_bytes_ = bytes;
    }

private:
    std::unique_ptr<std::int64_t[]> offsets_; ///< null: the caller's are used
    std::unique_ptr<std::int32_t[]> columns_;
    std::shared_ptr<const void> converted_;
    std::size_t converted_bytes_ = 0;
    csr_view<T> view_;
};

namespace detail {

/// Returns the offsets counted from 0; null where the caller's can be taken as they are. The
/// threads that write the memory are the first to touch it: most of the time is the system's, to
/// give it.
template <class Offset>
[[nodiscard]] std::unique_ptr<std::int64_t[]> widened(const Offset* offsets, std::int64_t rows,
                                                      std::int64_t base) {
    if (std::same_as<Offset, std::int64_t> && base == 0) return nullptr;
    auto result = std::make_unique_for_overwrite<std::int64_t[]>(as_size(rows) + 1);
#pragma omp parallel for schedule(static)
    for (std::int64_t row = 0; row <= rows; ++row)
        result[as_size(row)] = static_cast<std::int64_t>(offsets[row]) - base;
    return result;
}

/// Returns the columns counted from 0 in 32 bits; null where the caller's can be taken as they
/// are. Throws input_error for the first column out of range.
template <class Column>
[[nodiscard]] std::unique_ptr<std::int32_t[]> narrowed(const Column* columns, std::int64_t nnz,
                                                       std::int64_t limit, std::int64_t base) {
    if (std::same_as<Column, std::int32_t> && base == 0) return nullptr;
    auto result = std::make_unique_for_overwrite<std::int32_t[]>(as_size(nnz));
    std::int64_t first_bad = nnz;
#pragma omp parallel for schedule(static) reduction(min : first_bad)
    for (std::int64_t k = 0; k < nnz; ++k) {
        const auto column = static_cast<std::int64_t>(columns[k]);
        if (column < base || column - base >= limit)
            first_bad = k < first_bad ? k : first_bad;
        else
            result[as_size(k)] = static_cast<std::int32_t>(column - base);
    }
    if (first_bad < nnz)
        throw input_error("CSR arrays: column_indices[" + std::to_string(first_bad) + "] is " +
                          std::to_string(columns[first_bad]) + ", allowed are " +
                          std::to_string(base) + " to " + std::to_string(limit + base - 1));
    return result;
}

inline void check_csr_sizes(std::int64_t rows, std::int64_t columns, std::int64_t first,
                            std::int64_t last, std::int64_t base) {
    const auto refuse = [](const std::string& what) { throw input_error("CSR arrays: " + what); };
    if (columns < 0 || columns > index_limit)
        refuse("columns is " + std::to_string(columns) + ", allowed are 0 to " +
               std::to_string(index_limit));
    if (first != base)
        refuse("row_offsets[0] is " + std::to_string(first) + ", allowed is " +
               std::to_string(base) + " where indices count from " + std::to_string(base) +
               (first == 0 || first == 1 ? " (was the wrong index_base given?)" : ""));
    if (last < base)
        refuse("row_offsets[" + std::to_string(rows) + "] is " + std::to_string(last) +
               ", allowed are " + std::to_string(base) + " and more");
}

} // namespace detail

/// Makes an operator of adapt_csr(...) or adapt_eigen(...) without naming the type of its values.
/// The matrix may be a temporary, because operators keep no view of it. See make_operator() of a
/// csr_view.
template <class T>
[[nodiscard]] std::unique_ptr<matrix_operator<T>>
make_operator(const communicator& comm, const adapted_csr<T>& matrix,
              const operator_options& options = {}) {
    return make_operator(comm, matrix.view(), options);
}

/// Returns a view of a matrix of `rows` rows in three arrays: row_offsets[rows + 1], and
/// row_offsets[rows] - base entries of column_indices and values. Offset and Column are integers of
/// any width. Values are double or float and never copied. Offsets are copied (8 bytes a row)
/// unless they are std::int64_t and count from 0, columns (4 bytes an entry) unless they are
/// std::int32_t and count from 0. The arrays must outlive the result; the view shows later changes
/// of the values.
///
/// It costs O(rows + nnz) where something is copied, else O(1). Throws usage_error for a null
/// pointer, and input_error for sizes or, where columns are copied, for the first column out of
/// range. make_operator() checks the rest.
template <class T, std::integral Offset, std::integral Column>
requires std::same_as<T, double> || std::same_as<T, float>
[[nodiscard]] adapted_csr<T> adapt_csr(std::int64_t rows, std::int64_t columns,
                                       const Offset* row_offsets, const Column* column_indices,
                                       const T* values, index_base base = index_base::zero) {
    if (rows < 0 || rows > index_limit)
        throw input_error("CSR arrays: rows is " + std::to_string(rows) + ", allowed are 0 to " +
                          std::to_string(index_limit));
    if (row_offsets == nullptr) throw usage_error("CSR arrays: row_offsets is null");
    const auto from = static_cast<std::int64_t>(base);
    const auto last = static_cast<std::int64_t>(row_offsets[rows]);
    detail::check_csr_sizes(rows, columns, static_cast<std::int64_t>(row_offsets[0]), last, from);
    const std::int64_t nnz = last - from;
    if (nnz > 0 && column_indices == nullptr)
        throw usage_error("CSR arrays: column_indices is null");
    if (nnz > 0 && values == nullptr) throw usage_error("CSR arrays: values is null");

    csr_view<T> view;
    view.rows = rows;
    view.columns = columns;
    view.values = {values, as_size(nnz)};
    if constexpr (std::same_as<Offset, std::int64_t>)
        view.row_offsets = {row_offsets, as_size(rows) + 1};
    if constexpr (std::same_as<Column, std::int32_t>)
        view.column_indices = {column_indices, as_size(nnz)};
    return {view, detail::widened(row_offsets, rows, from),
            detail::narrowed(column_indices, nnz, columns, from)};
}

} // namespace krylith
