#include <krylith/spmv/building/reordered_matrix.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/matrix/compressed/first_touch.hpp>
#include <krylith/partition/ordering/metis_order.hpp>
#include <krylith/spmv/building/build_operator.hpp>

namespace krylith {

namespace {

/// Returns the entries that all devices together receive for a product with operator halo.
template <class T>
std::int64_t ghosts(const csr_view<T>& matrix, const row_partition& rows) {
    const int devices = rows.ranks();
    if (devices == 1) return 0;
    const halo_plan plan = make_halo_plan(matrix.row_offsets, matrix.column_indices, rows);
    std::int64_t sum = 0;
    for (int part = 0; part < devices; ++part) sum += plan.ghost_count(part);
    return sum;
}

} // namespace

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
#pragma omp parallel
    {
        std::vector<std::pair<std::int32_t, std::int64_t>> entries; // (new column, old entry)
#pragma omp for schedule(dynamic, 1024)
        for (std::size_t row = 0; row < n; ++row) {
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
    }
    return result;
}

template <class T>
std::unique_ptr<matrix_operator<T>> build_reordered(const device_group& group,
                                                    const csr_view<T>& matrix,
                                                    const operator_options& options) {
    if (matrix.rows != matrix.columns)
        throw usage_error(std::string("order ") + to_string(options.order) +
                          " needs a square matrix; A is " + std::to_string(matrix.rows) + " x " +
                          std::to_string(matrix.columns));
    const auto start = std::chrono::steady_clock::now();
    part_order found = options.order->find(matrix.row_offsets, matrix.column_indices, group.size());
    auto order = std::make_shared<const permutation>(std::move(found.order));
    reordered_matrix<T> moved = reordered(matrix, *order);
    const csr_view<T> view(moved.matrix);
    if (found.rows.ranks() == 0) found.rows = partition_rows(view.row_offsets, group.size());
    reordering_report report;
    report.order = options.order;
    report.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    report.bandwidth_before = bandwidth(matrix.row_offsets, matrix.column_indices);
    report.bandwidth_after = bandwidth(view.row_offsets, view.column_indices);
    report.ghosts_before = ghosts(matrix, partition_rows(matrix.row_offsets, group.size()));
    report.ghosts_after = ghosts(view, found.rows);
    operator_placement placement{found.rows, {}};
    auto source = make_source(group, view, pattern_state::valid, placement.rows, options);
    source.order = std::move(order);
    auto result = build_operator(group, source, placement, options);
    result->take_values_from(std::move(moved.entry_source), report);
    return result;
}

template reordered_matrix<double> reordered(const csr_view<double>&, const permutation*,
                                            const permutation*);
template reordered_matrix<float> reordered(const csr_view<float>&, const permutation*,
                                           const permutation*);
template std::unique_ptr<matrix_operator<double>>
build_reordered(const device_group&, const csr_view<double>&, const operator_options&);
template std::unique_ptr<matrix_operator<float>>
build_reordered(const device_group&, const csr_view<float>&, const operator_options&);

} // namespace krylith
