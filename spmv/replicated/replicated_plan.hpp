// The plan of a replicated operator: which device computes which rows, and how results travel.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <krylith/partition/replicated/block_partition.hpp>
#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/vector/layout.hpp>

namespace krylith {

/// Throws usage_error for fractions out of range or of operators that have none, and for a
/// transport that is not one of the operator's, or that the devices can't use.
void check_replication(const communicator& comm, const operator_options& options);

/// Returns "lra and lra-rc": the operators with fractions, for messages.
[[nodiscard]] std::string operators_with_fractions();

/// Returns the rule's fractions for lra and lra-rc, except those that the options fix.
[[nodiscard]] row_fractions fractions_by_rule(operator_kind kind, const communicator& comm,
                                              std::span<const std::int64_t> row_offsets,
                                              const operator_options& options);

/// Returns the transport that runs; peer_store on one device, where nothing is sent. Throws
/// usage_error for what the devices can't do.
[[nodiscard]] transport_kind choose_transport(const communicator& comm, transport_kind asked);

} // namespace krylith
