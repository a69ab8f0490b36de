#include <krylith/partition/ordering/reordered_matrix.hpp>

#include <algorithm>
#include <atomic>
#include <utility>

#include <omp.h>

#include <krylith/device/host/host_team.hpp>
#include <krylith/matrix/compressed/first_touch.hpp>

namespace krylith {

template <class T>
reordered_matrix<T> reordered(const csr_view<T>& matrix, const permutation* rows,
                              const permutation* columns) {
    const auto n = static_cast<std::size_t>(matrix.rows);
    reordered_matrix<T> result;
    csr_matrix<T>& to = result.matrix;
    to.rows = matrix.rows;
    to.columns = matrix.columns;
    resize_in_parallel(to.row_offsets, n + 1);
    to.row_offsets[0] = 0;
    const auto source_of = [&](std::size_t row) {
        return rows != nullptr ? static_cast<std::size_t>(rows->source[row]) : row;
    };
    for (std::size_t row = 0; row < n; ++row) {
        const std::size_t from = source_of(row);
        to.row_offsets[row + 1] =
            to.row_offsets[row] + matrix.row_offsets[from + 1] - matrix.row_offsets[from];
    }
    const auto nnz = static_cast<std::size_t>(to.row_offsets.back());
    resize_in_parallel(to.column_indices, nnz);
    resize_in_parallel(to.values, nnz);
    resize_in_parallel(result.entry_source, nnz);
    constexpr std::size_t taken_together = 1024;
    std::atomic<std::size_t> next_rows{0};
    in_team(omp_get_max_threads(), [&](int /*member*/, int /*members*/) {
        std::vector<std::pair<std::int32_t, std::int64_t>> entries; // (new column, old entry)
        std::size_t row = 0;
        std::size_t end = 0;
        for (;; ++row) {
            if (row == end) {
                row = next_rows.fetch_add(taken_together);
                if (row >= n) return;
                end = std::min(row + taken_together, n);
            }
            const std::size_t from = source_of(row);
            entries.clear();
            for (std::int64_t k = matrix.row_offsets[from]; k < matrix.row_offsets[from + 1]; ++k) {
                const auto column = matrix.column_indices[static_cast<std::size_t>(k)];
                entries.emplace_back(
                    columns != nullptr ? columns->place[static_cast<std::size_t>(column)] : column,
                    k);
            }
            std::sort(entries.begin(), entries.end());
            auto next = static_cast<std::size_t>(to.row_offsets[row]);
            for (const auto& [column, k] : entries) {
                to.column_indices[next] = column;
                to.values[next] = matrix.values[static_cast<std::size_t>(k)];
                result.entry_source[next++] = k;
            }
        }
    });
    return result;
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template reordered_matrix<T> reordered(const csr_view<T>&, const permutation*,                 \
                                           const permutation*);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
