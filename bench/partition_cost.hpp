// What an operator's partitioning alone costs.
#pragma once

#include <optional>

#include <krylith/matrix/csr.hpp>
#include <krylith/spmv/matrix_operator.hpp>

namespace krylith::bench {

/// Seconds to deal the rows to devices and, for halo and gather, to plan who sends what: no format
/// is built and nothing is uploaded. Nothing for an operator that deals rows in a way of its own.
[[nodiscard]] std::optional<double>
partition_seconds(operator_kind kind, const csr_matrix<double>& matrix, int devices);

} // namespace krylith::bench
