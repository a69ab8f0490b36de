#include <krylith/bench/partition_cost.hpp>

#include <krylith/bench/stopwatch.hpp>
#include <krylith/partition/gather_plan.hpp>
#include <krylith/partition/halo_plan.hpp>

namespace krylith::bench {

std::optional<double> partition_seconds(operator_kind kind, const csr_matrix<double>& matrix,
                                        int devices) {
    const stopwatch watch;
    row_partition rows = deal_rows(matrix.row_offsets, devices);
    switch (kind) {
    case operator_kind::nz: break;
    case operator_kind::halo:
        (void)make_halo_plan(matrix.row_offsets, matrix.column_indices, std::move(rows));
        break;
    case operator_kind::gather:
        (void)make_gather_plan(matrix.row_offsets, matrix.column_indices, std::move(rows));
        break;
    default: return std::nullopt;
    }
    return watch.seconds();
}

} // namespace krylith::bench
