// Rows of C = A B on one thread (Gustavson, Two fast algorithms for sparse matrices: multiplication
// and permuted transposition, ACM TOMS 4, 1978).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <krylith/matrix/types/index_width.hpp>
#include <krylith/sparse/device_csr.hpp>
#include <krylith/sparse/spgemm/column_set.hpp>
#include <krylith/sparse/spgemm/column_sums.hpp>
#include <krylith/sparse/spgemm/entry_list.hpp>
#include <krylith/sparse/spgemm/marked_columns.hpp>
#include <krylith/sparse/spgemm/spgemm_pattern.hpp>

namespace krylith::host {

/// Counts the entries of rows [begin, end) of C.
inline std::int64_t count_entries(const csr_pattern& a, const csr_pattern& b, std::int64_t begin,
                                  std::int64_t end) {
    std::vector<std::int64_t> last(as_size(b.columns), -1); // the last row that had each column
    std::int64_t count = 0;
    for (std::int64_t i = begin; i < end; ++i)
        for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
            for (std::int64_t j = b.offsets[a.indices[k]]; j < b.offsets[a.indices[k] + 1]; ++j) {
                std::int64_t& of = last[as_size(b.indices[j])];
                count += of != i ? 1 : 0;
                of = i;
            }
    return count;
}

/// Appends the columns of rows [begin, end) of C, and writes how many each row has to counts[row],
/// which has the number of products up to the end of the row; `before` are those before `begin`.
inline void count_rows(const csr_pattern& a, const csr_pattern& b, std::int64_t begin,
                       std::int64_t end, std::int64_t before, column_list& columns,
                       std::int64_t* counts) {
    column_set set(b.columns);
    marked_columns marked(b.columns);
    const auto insert_into = [&](auto& row, std::int64_t i) {
        for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
            const std::int32_t from = a.indices[k];
            row.insert(b.indices + b.offsets[from], b.indices + b.offsets[from + 1]);
        }
    };
    for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t products = counts[i] - before;
        before = counts[i];
        columns.make_room(as_size(std::min(products, b.columns)) + column_set::slack,
                          static_cast<double>(i - begin) / static_cast<double>(end - begin));
        const std::size_t size = columns.size();
        if (products <= marked_columns::most_products) {
            marked.begin();
            insert_into(marked, i);
            columns.grow_to(marked.take(columns.end()));
        } else {
            set.begin(as_size(products));
            insert_into(set, i);
            columns.grow_to(set.take(columns.end()));
        }
        counts[i] = static_cast<std::int64_t>(columns.size() - size);
    }
}

/// The numeric phase of rows [begin, end), with a sum for each column of C. Products and sums are
/// rounded apart, as on GPUs: this must be compiled without fused multiply-add.
template <class T>
void add_up_rows(const device_csr_view<T>& a, const device_csr_view<T>& b, std::int64_t begin,
                 std::int64_t end, const device_csr_view<T>& pattern, T* values,
                 std::vector<T>& sums) {
    sums.resize(as_size(b.columns));
    T* const sum = sums.data();
    for (std::int64_t i = begin; i < end; ++i) {
        for (std::int64_t q = pattern.offsets[i]; q < pattern.offsets[i + 1]; ++q)
            sum[pattern.indices[q]] = T{0};
        for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
            const std::int32_t from = a.indices[k];
            const T factor = a.values[k];
            for (std::int64_t j = b.offsets[from]; j < b.offsets[from + 1]; ++j) {
                const T product = factor * b.values[j];
                sum[b.indices[j]] += product;
            }
        }
        for (std::int64_t q = pattern.offsets[i]; q < pattern.offsets[i + 1]; ++q)
            values[q] = sum[pattern.indices[q]];
    }
}

/// Both phases of rows [begin, end) at once: appends the columns and values of C, and writes counts
/// as count_rows() does. Sums are made in the order and with the roundings of add_up_rows().
template <class T>
void multiply_rows_at_once(const device_csr_view<T>& a, const device_csr_view<T>& b,
                           std::int64_t begin, std::int64_t end, std::int64_t before,
                           column_list& columns, entry_list<T>& values, std::int64_t* counts) {
    column_sums<T> row(b.columns);
    for (std::int64_t i = begin; i < end; ++i) {
        const std::size_t most = as_size(std::min(counts[i] - before, b.columns));
        before = counts[i];
        const double done = static_cast<double>(i - begin) / static_cast<double>(end - begin);
        columns.make_room(most, done);
        values.make_room(most, done);
        row.begin(most);
        for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
            const std::int64_t first = b.offsets[a.indices[k]];
            const std::int64_t last = b.offsets[a.indices[k] + 1];
            row.add(b.indices + first, b.indices + last, b.values + first, a.values[k]);
        }
        const std::size_t found = row.take(columns.end(), values.end());
        columns.grow_by(found);
        values.grow_by(found);
        counts[i] = static_cast<std::int64_t>(found);
    }
}

} // namespace krylith::host
