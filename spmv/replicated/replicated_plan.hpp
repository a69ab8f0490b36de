// What a replicated operator is built for: which rows where, and how results travel.
#pragma once

#include <cstdint>
#include <span>

#include <krylith/partition/replicated/block_partition.hpp>
#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/vector/layout.hpp>

namespace krylith {

/// nz, 2nz, lra, lra-rc.
[[nodiscard]] bool is_replicated(operator_kind kind) noexcept;

/// Throws usage_error for shares out of range or of operators that have none, and, where the
/// devices hold the matrix (`on_devices`: each the rows that it owns), for 2nz, lra and lra-rc.
void check_replication(const device_group& group, const operator_options& options, bool on_devices);

/// The rule's shares for lra and lra-rc, but for those that the options fix.
[[nodiscard]] row_fractions fractions_by_rule(operator_kind kind, const device_group& group,
                                              std::span<const std::int64_t> row_offsets,
                                              const operator_options& options);

/// The rows that each device computes for a replicated operator: for nz those of the layout.
/// `longest` and `fractions` are for lra and lra-rc. O(devices log rows).
[[nodiscard]] block_partition plan_blocks(operator_kind kind, const layout& layout,
                                          std::span<const std::int64_t> row_offsets,
                                          const longest_row& longest,
                                          const row_fractions& fractions);

/// Whether the rounding of a row depends on the block that it is in.
[[nodiscard]] constexpr bool rounds_by_block(format_kind format) {
    return format == format_kind::merge || format == format_kind::cusparse;
}

/// The transfer that runs; stores on one device, where nothing moves. `apart`: redundant rows must
/// be blocks of their own, as by copies and NCCL, since the format rounds_by_block. Throws
/// usage_error for what the devices can't do.
[[nodiscard]] transport_kind choose_transport(const device_group& group, transport_kind asked,
                                              bool apart);

} // namespace krylith
