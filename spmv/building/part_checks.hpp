// What is checked of matrices whose arrays lie on the devices before anything is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <krylith/spmv/building/build_operator.hpp>
#include <krylith/spmv/matrix_parts.hpp>

namespace krylith {

// These throw usage_error naming the part, and what is allowed.

/// There must be a part for each device.
void check_count(std::size_t parts, const communicator& comm);
/// Rows that lie on the devices stay there: the order must be none.
void check_order(const operator_options& options);
/// The number of rows, and the row offsets of a part that has rows.
template <class T>
void check_part(device& device, int rank, const csr_part<T>& part);
/// The columns and values of a part that has nonzeros.
template <class T>
void check_entries(device& device, int rank, const csr_part<T>& part);

/// Reads how many nonzeros rows have, from their first offset and their last.
[[nodiscard]] std::int64_t count_nonzeros(device& device, const index_array& offsets,
                                          std::int64_t rows);

/// Returns what is fixed of the operator of parts: their rows and, where the caller gave them, the
/// layouts, which must have these rows.
[[nodiscard]] operator_placement placement_of(row_partition rows,
                                              const std::optional<operator_layouts>& layouts,
                                              const operator_options& options);

} // namespace krylith
