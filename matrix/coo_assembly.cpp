#include <krylith/matrix/coo_assembly.hpp>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/device/memory/unmoved.hpp>
#include <krylith/matrix/compressed/coo_rows.hpp>
#include <krylith/matrix/compressed/first_touch.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith {
namespace {

template <class Index>
void check_coo_indices(const char* name, std::span<const Index> indices, std::int64_t limit) {
    const auto count = static_cast<std::int64_t>(indices.size());
    std::int64_t first_bad = count;
#pragma omp parallel for schedule(static) reduction(min : first_bad)
    for (std::int64_t k = 0; k < count; ++k) {
        if (indices[as_size(k)] >= limit) {
            first_bad = std::min(first_bad, k);
        }
    }
    if (first_bad < count) {
        throw input_error(std::string("COO assembly: ") + name + "[" + std::to_string(first_bad) +
                          "] is " + std::to_string(indices[as_size(first_bad)]) +
                          ", allowed are numbers below " + std::to_string(limit) +
                          " (negative: the entry is left out)");
    }
}

void check_count(const char* name, std::size_t given, std::int64_t needed) {
    if (static_cast<std::int64_t>(given) != needed) {
        throw usage_error(std::string("coo_assembly::gather: ") + name + " has " +
                          std::to_string(given) + " values, must have " + std::to_string(needed));
    }
}

} // namespace

coo_assembly::coo_assembly(std::int64_t rows, std::int64_t columns,
                           std::span<const std::int32_t> row_indices,
                           std::span<const std::int32_t> column_indices)
    : rows_(rows), columns_(columns) {
    build(row_indices, column_indices);
}

coo_assembly::coo_assembly(std::int64_t rows, std::int64_t columns,
                           std::span<const std::int64_t> row_indices,
                           std::span<const std::int64_t> column_indices)
    : rows_(rows), columns_(columns) {
    build(row_indices, column_indices);
}

template <class Index>
void coo_assembly::build(std::span<const Index> row_indices,
                         std::span<const Index> column_indices) {
    check_index_size("COO assembly: rows", rows_);
    check_index_size("COO assembly: columns", columns_);
    if (row_indices.size() != column_indices.size()) {
        throw input_error("COO assembly: row_indices and column_indices have " +
                          std::to_string(row_indices.size()) + " and " +
                          std::to_string(column_indices.size()) +
                          " entries, allowed is the same number");
    }
    check_coo_indices("row_indices", row_indices, rows_);
    check_coo_indices("column_indices", column_indices, columns_);
    entries_ = static_cast<std::int64_t>(row_indices.size());

    // The "values" of this matrix are the numbers of its entries.
    auto sorted = by_rows<std::int64_t>(
        rows_, columns_, entries_,
        [=](std::int64_t k) {
            return column_indices[as_size(k)] < 0 ? Index{-1} : row_indices[as_size(k)];
        },
        [=](std::int64_t k) { return static_cast<std::int32_t>(column_indices[as_size(k)]); },
        [](std::int64_t k) { return k; });
    const bool duplicates = sort_rows(sorted, [](const row_entries<std::int64_t>& row) {
        const std::int32_t* const end = row.columns() + row.length();
        return std::adjacent_find(row.columns(), row.columns() + row.length()) != end;
    });
    row_offsets_ = std::move(sorted.row_offsets);
    column_indices_ = std::move(sorted.column_indices);
    order_ = std::move(sorted.values);
    if (duplicates) {
        merge_duplicates(static_cast<std::int64_t>(order_.size()));
    }
}

void coo_assembly::merge_duplicates(std::int64_t kept) {
    std::vector<std::int64_t> offsets(row_offsets_.size(), 0);
    const std::int32_t* const column = column_indices_.data();
    const auto leads = [&](std::int64_t k, std::int64_t row_begin) {
        return k == row_begin || column[k] != column[k - 1];
    };
#pragma omp parallel for schedule(static)
    for (std::int64_t row = 0; row < rows_; ++row) {
        const std::int64_t begin = row_offsets_[as_size(row)];
        for (std::int64_t k = begin; k < row_offsets_[as_size(row + 1)]; ++k) {
            offsets[as_size(row + 1)] += leads(k, begin) ? 1 : 0;
        }
    }
    std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
    std::vector<std::int32_t> columns;
    resize_in_parallel(columns, as_size(offsets.back()));
    resize_in_parallel(first_, as_size(offsets.back()) + 1);
#pragma omp parallel for schedule(static)
    for (std::int64_t row = 0; row < rows_; ++row) {
        const std::int64_t begin = row_offsets_[as_size(row)];
        std::int64_t place = offsets[as_size(row)];
        for (std::int64_t k = begin; k < row_offsets_[as_size(row + 1)]; ++k) {
            if (leads(k, begin)) {
                columns[as_size(place)] = column[k];
                first_[as_size(place)] = k;
                ++place;
            }
        }
    }
    first_.back() = kept;
    row_offsets_ = std::move(offsets);
    column_indices_ = std::move(columns);
}

template <class T>
void coo_assembly::gather(std::span<const T> coo_values, std::span<T> csr_values) const {
    if (row_offsets_.empty()) refuse_moved_from();
    check_count("coo_values", coo_values.size(), entries_);
    check_count("csr_values", csr_values.size(), nnz());
    const std::int64_t count = nnz();
    const std::int64_t* const order = order_.data();
    const T* const from = coo_values.data();
    T* const to = csr_values.data();
    if (first_.empty()) {
#pragma omp parallel for schedule(static)
        for (std::int64_t k = 0; k < count; ++k) {
            to[k] = from[order[k]];
        }
        return;
    }
    const std::int64_t* const first = first_.data();
#pragma omp parallel for schedule(static)
    for (std::int64_t k = 0; k < count; ++k) {
        T sum = from[order[first[k]]];
        for (std::int64_t j = first[k] + 1; j < first[k + 1]; ++j) {
            sum += from[order[j]];
        }
        to[k] = sum;
    }
}

template <class T>
csr_matrix<T> coo_assembly::matrix(std::span<const T> coo_values) const {
    csr_matrix<T> result;
    result.rows = rows_;
    result.columns = columns_;
    result.row_offsets = row_offsets_;
    result.column_indices = column_indices_;
    resize_in_parallel(result.values, as_size(nnz()));
    gather(coo_values, std::span<T>(result.values));
    return result;
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void coo_assembly::gather(std::span<const T>, std::span<T>) const;                    \
    template csr_matrix<T> coo_assembly::matrix(std::span<const T>) const;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
