// Operators of matrices whose rows and columns lie in another order than the caller's.
#include <krylith/spmv/building/build_operator.hpp>

#include <chrono>
#include <string>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/partition/balance/partition_rows.hpp>
#include <krylith/partition/ordering/metis_order.hpp>
#include <krylith/partition/ordering/reordered_matrix.hpp>

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
std::unique_ptr<matrix_operator<T>> build_reordered(const communicator& comm,
                                                    const csr_view<T>& matrix,
                                                    const operator_options& options) {
    if (matrix.rows != matrix.columns)
        throw usage_error(std::string("order ") + to_string(options.order) +
                          " needs a square matrix; A is " + std::to_string(matrix.rows) + " x " +
                          std::to_string(matrix.columns));
    const auto start = std::chrono::steady_clock::now();
    part_order found = options.order->find(matrix.row_offsets, matrix.column_indices, comm.ranks());
    auto order = std::make_shared<const permutation>(std::move(found.order));
    reordered_matrix<T> moved = reordered(matrix, *order);
    const csr_view<T> view(moved.matrix);
    if (found.rows.ranks() == 0) found.rows = partition_rows(view, comm.ranks());
    reordering_report report;
    report.order = options.order;
    report.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    report.bandwidth_before = bandwidth(matrix.row_offsets, matrix.column_indices);
    report.bandwidth_after = bandwidth(view.row_offsets, view.column_indices);
    report.ghosts_before = ghosts(matrix, partition_rows(matrix, comm.ranks()));
    report.ghosts_after = ghosts(view, found.rows);
    operator_placement placement{found.rows, {}};
    auto source = make_source(comm, view, pattern_state::valid, placement.rows, options);
    source.order = std::move(order);
    auto result = build_operator(comm, source, placement, options);
    result->take_values_from(std::move(moved.entry_source), report);
    return result;
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::unique_ptr<matrix_operator<T>> build_reordered(                                  \
        const communicator&, const csr_view<T>&, const operator_options&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
