// The plan of a replicated operator: which device computes which rows, and how results travel.
#pragma once

#include <cstdint>
#include <span>

#include <krylith/partition/replicated/block_partition.hpp>
#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/vector/layout.hpp>

namespace krylith {

/// Whether the operator is nz, 2nz, lra or lra-rc.
[[nodiscard]] bool is_replicated(operator_kind kind) noexcept;

/// Throws usage_error for fractions out of range or of operators that have none, and for 2nz, lra
/// and lra-rc where the devices hold the matrix (`on_devices`: each has the rows that it owns).
void check_replication(const device_group& group, const operator_options& options, bool on_devices);

/// Returns the rule's fractions for lra and lra-rc, except those that the options fix.
[[nodiscard]] row_fractions fractions_by_rule(operator_kind kind, const device_group& group,
                                              std::span<const std::int64_t> row_offsets,
                                              const operator_options& options);

/// Returns the rows that each device computes for a replicated operator; for nz those of the
/// layout. `longest` and `fractions` are for lra and lra-rc. O(devices log rows).
[[nodiscard]] block_partition plan_blocks(operator_kind kind, const layout& layout,
                                          std::span<const std::int64_t> row_offsets,
                                          const longest_row& longest,
                                          const row_fractions& fractions);

/// Whether the rounding of a row depends on the block that it is in.
[[nodiscard]] constexpr bool rounds_by_block(format_kind format) {
    return format == format_kind::merge || format == format_kind::cusparse;
}

/// Returns the transport that runs; peer_store on one device, where nothing is sent. With `apart`
/// redundant rows must be blocks of their own, as with copy engines and NCCL, because the format
/// rounds_by_block(). Throws usage_error for what the devices can't do.
[[nodiscard]] transport_kind choose_transport(const device_group& group, transport_kind asked,
                                              bool apart);

} // namespace krylith
