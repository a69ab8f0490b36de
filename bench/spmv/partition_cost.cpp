#include <krylith/bench/spmv/partition_cost.hpp>

#include <utility>

#include <krylith/partition/allgather/allgather_plan.hpp>
#include <krylith/partition/halo/halo_plan.hpp>
#include <krylith/partition/nonzero/nonzero_split_plan.hpp>
#include <krylith/spmv/nonzero_split/nonzero_split_operator.hpp>
#include <krylith/spmv/replicated/replicated_plan.hpp>
#include <krylith/tools/cli/stopwatch.hpp>

namespace krylith::bench {

template <class T>
double partition_seconds(operator_kind kind, const csr_matrix<T>& matrix, const device_group& group,
                         const operator_options& options) {
    // Every operator's matrix is validated, also one that has nothing to plan: the search of the
    // longest row is made in that pass over the offsets, and is no cost of lra's plan.
    const longest_row longest = validate(matrix);
    const tool::stopwatch watch;
    row_partition rows = partition_rows(matrix.row_offsets, group.size());
    if (kind == operator_kind::halo || kind == operator_kind::adaptive) {
        (void)make_halo_plan(matrix.row_offsets, matrix.column_indices, std::move(rows));
    } else if (kind == operator_kind::allgather) {
        (void)make_allgather_plan(matrix.row_offsets, matrix.column_indices, std::move(rows));
    } else if (is_nonzero_split(kind)) {
        (void)make_nonzero_split_plan(matrix.row_offsets, matrix.column_indices,
                                      partition_nonzeros(kind, matrix.row_offsets,
                                                         matrix.column_indices, matrix.columns,
                                                         group.size()));
    } else {
        const layout layout{group, std::move(rows), coherence::replicated};
        (void)plan_blocks(kind, layout, matrix.row_offsets, longest,
                          fractions_by_rule(kind, group, matrix.row_offsets, options));
    }
    return watch.seconds();
}

template double partition_seconds(operator_kind, const csr_matrix<double>&, const device_group&,
                                  const operator_options&);
template double partition_seconds(operator_kind, const csr_matrix<float>&, const device_group&,
                                  const operator_options&);

} // namespace krylith::bench
