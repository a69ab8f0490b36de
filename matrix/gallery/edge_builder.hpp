// A CSR matrix from a rule for the k-th edge, in parallel.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include <krylith/matrix/compressed/first_touch.hpp>
#include <krylith/matrix/compressed/row_builder.hpp>

namespace krylith {

/// The columns of rows: row i's begin at begin[i]; begin[rows] says how many there are in all.
struct row_lists {
    std::vector<std::int64_t> begin;
    std::vector<std::int32_t> columns;
};

/// Removes the row's loop and its duplicates; returns how many columns are left.
inline std::int64_t sort_and_merge(std::int32_t* begin, std::int32_t* end, std::int64_t row) {
    end = std::remove(begin, end, static_cast<std::int32_t>(row));
    std::sort(begin, end);
    return std::unique(begin, end) - begin;
}

/// Puts every edge in the row of its first vertex, and where `both_ways` also the other way round.
/// The order within a row depends on the threads.
template <class Edge>
row_lists scatter_edges(std::int64_t rows, std::int64_t edges, bool both_ways, const Edge& edge) {
    const std::int64_t entries = both_ways ? 2 * edges : edges;
    require_memory(rows, static_cast<double>(rows) * sizeof(std::int64_t) +
                             static_cast<double>(entries) * sizeof(std::int32_t));
    row_lists lists;
    resize_in_parallel(lists.begin, as_size(rows) + 1);
    std::int64_t* const next = lists.begin.data();
    const auto count = [=](std::int64_t row) {
        std::atomic_ref<std::int64_t>(next[row]).fetch_add(1, std::memory_order_relaxed);
    };
#pragma omp parallel for schedule(static)
    for (std::int64_t k = 0; k < edges; ++k) {
        const auto [from, to] = edge(k);
        count(from);
        if (both_ways) {
            count(to);
        }
    }
    std::partial_sum(next, next + rows + 1, next);
    resize_in_parallel(lists.columns, as_size(entries));
    std::int32_t* const columns = lists.columns.data();
    // A row's places are filled from its end down to its beginning.
    const auto put = [=](std::int64_t row, std::int64_t column) {
        const std::int64_t behind =
            std::atomic_ref<std::int64_t>(next[row]).fetch_sub(1, std::memory_order_relaxed);
        columns[behind - 1] = static_cast<std::int32_t>(column);
    };
#pragma omp parallel for schedule(static)
    for (std::int64_t k = 0; k < edges; ++k) {
        const auto [from, to] = edge(k);
        put(from, to);
        if (both_ways) {
            put(to, from);
        }
    }
    return lists;
}

/// Builds a graph from `edge(k)`, a pair of rows, k = 0..edges-1, which is called twice; duplicates
/// are merged, loops dropped; values are `weight(row, column)`. O(edges log(longest row)). Throws
/// input_error where the memory can't hold the edges or the matrix.
template <class T, class Edge, class Weight>
csr_matrix<T> build_by_edges(std::int64_t rows, std::int64_t edges, bool both_ways,
                             const Edge& edge, const Weight& weight) {
    row_lists lists = scatter_edges(rows, edges, both_ways, edge);
    std::int32_t* const from = lists.columns.data();
    csr_matrix<T> csr;
    csr.rows = rows;
    csr.columns = rows;
    csr.row_offsets.clear();
    resize_in_parallel(csr.row_offsets, as_size(rows) + 1);
    std::int64_t* const offsets = csr.row_offsets.data();
    // The schedule is dynamic, since few rows have most of the edges.
#pragma omp parallel for schedule(dynamic, 256)
    for (std::int64_t row = 0; row < rows; ++row) {
        offsets[row + 1] = sort_and_merge(from + lists.begin[as_size(row)],
                                          from + lists.begin[as_size(row + 1)], row);
    }
    std::partial_sum(offsets, offsets + rows + 1, offsets);
    const std::int64_t nnz = offsets[rows];
    require_memory(rows, static_cast<double>(nnz) * (sizeof(std::int32_t) + sizeof(T)));
    resize_in_parallel(csr.column_indices, as_size(nnz));
    std::int32_t* const columns = csr.column_indices.data();
#pragma omp parallel for schedule(static)
    for (std::int64_t row = 0; row < rows; ++row) {
        std::copy_n(from + lists.begin[as_size(row)], offsets[row + 1] - offsets[row],
                    columns + offsets[row]);
    }
    lists = {};
    resize_in_parallel(csr.values, as_size(nnz));
    T* const values = csr.values.data();
#pragma omp parallel for schedule(static)
    for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t k = offsets[row]; k < offsets[row + 1]; ++k) {
            values[k] = static_cast<T>(weight(row, columns[k]));
        }
    }
    return csr;
}

} // namespace krylith
