// The rows of each device where nobody names them.
#pragma once

#include <cstdint>

#include <krylith/matrix/csr.hpp>
#include <krylith/partition/row_partition.hpp>

namespace krylith {

/// Returns the rows of each device: equal nonzeros, in whole warps where there are many rows, and
/// in multiples of operator_options::block_size rows. Throws usage_error for one below 1.
template <class T>
[[nodiscard]] row_partition partition_rows(const csr_view<T>& matrix, int devices,
                                           int block_size = 1);

/// Returns the number of rows of which boundaries between devices are multiples.
[[nodiscard]] std::int64_t row_alignment(std::int64_t rows, int devices);

} // namespace krylith
