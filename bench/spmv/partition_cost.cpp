#include <krylith/bench/spmv/partition_cost.hpp>

#include <krylith/partition/balance/partition_rows.hpp>
#include <krylith/spmv/replicated/replicated_plan.hpp>
#include <krylith/spmv/subject/operator_subject.hpp>
#include <krylith/tools/cli/stopwatch.hpp>

namespace krylith::bench {

template <class T>
double partition_seconds(operator_kind kind, const csr_matrix<T>& matrix, const device_group& group,
                         const operator_options& options) {
    // Every operator's matrix is validated, also one that has nothing to plan: the search of the
    // longest row is made in that pass over the offsets, and is no cost of lra's plan.
    const longest_row longest = validate(matrix);
    const tool::stopwatch watch;
    operator_pattern pattern{group,
                             matrix.row_offsets,
                             matrix.column_indices,
                             longest,
                             partition_rows(csr_view<T>(matrix), group.size()),
                             partition_rows(csr_view<T>(matrix), group.size()),
                             options};
    if (kind->fractions.any())
        pattern.fractions = fractions_by_rule(kind, group, matrix.row_offsets, options);
    kind->plan(kind, pattern);
    return watch.seconds();
}

template double partition_seconds(operator_kind, const csr_matrix<double>&, const device_group&,
                                  const operator_options&);
template double partition_seconds(operator_kind, const csr_matrix<float>&, const device_group&,
                                  const operator_options&);

} // namespace krylith::bench
