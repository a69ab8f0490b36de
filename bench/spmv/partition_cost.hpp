// The cost of an operator's partitioning alone.
#pragma once

#include <krylith/matrix/csr.hpp>
#include <krylith/spmv/matrix_operator.hpp>

namespace krylith::bench {

/// Returns the seconds to partition the rows to devices and, for halo and allgather, to plan who
/// sends what: no format is built and nothing is uploaded. Validation, which every matrix gets and
/// which tells lra where its longest row is, isn't counted. `kind` is one that runs, not automatic.
template <class T>
[[nodiscard]] double partition_seconds(operator_kind kind, const csr_matrix<T>& matrix,
                                       const device_group& group, const operator_options& options);

} // namespace krylith::bench
