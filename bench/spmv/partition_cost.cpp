#include <krylith/bench/spmv/partition_cost.hpp>

#include <utility>

#include <krylith/bench/common/stopwatch.hpp>
#include <krylith/partition/allgather/allgather_plan.hpp>
#include <krylith/partition/halo/halo_plan.hpp>
#include <krylith/partition/nonzero/nonzero_split_plan.hpp>
#include <krylith/spmv/nonzero_split/nonzero_split_operator.hpp>
#include <krylith/spmv/replicated/replicated_plan.hpp>

namespace krylith::bench {

double partition_seconds(operator_kind kind, const csr_matrix<double>& matrix,
                         const device_group& group, const operator_options& options) {
    // Every operator's matrix is validated, also one that has nothing to plan: the search of the
    // longest row rides on that pass over the offsets, and is no cost of lra's plan.
    const longest_row longest = validate(matrix);
    const stopwatch watch;
    row_partition rows = partition_rows(matrix.row_offsets, group.size());
    if (kind == operator_kind::halo) {
        (void)make_halo_plan(matrix.row_offsets, matrix.column_indices, std::move(rows));
    } else if (kind == operator_kind::allgather) {
        (void)make_allgather_plan(matrix.row_offsets, matrix.column_indices, std::move(rows));
    } else if (is_nonzero_split(kind)) {
        (void)make_nonzero_split_plan(
            matrix.row_offsets, matrix.column_indices,
            partition_nonzeros(kind, matrix.row_offsets, matrix.column_indices, group.size()));
    } else {
        const layout layout{group, std::move(rows), coherence::replicated};
        (void)plan_blocks(kind, layout, matrix.row_offsets, longest,
                          fractions_by_rule(kind, group, matrix.row_offsets, options));
    }
    return watch.seconds();
}

} // namespace krylith::bench
