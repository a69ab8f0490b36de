// The rows of each device where nobody names them.
#pragma once

#include <cstdint>
#include <functional>

#include <krylith/matrix/csr.hpp>
#include <krylith/partition/row_partition.hpp>

namespace krylith {

/// Returns the rows of each device: equal nonzeros, in whole warps where there are many rows, and
/// in multiples of operator_options::block_size rows. Throws usage_error for one below 1.
template <class T>
[[nodiscard]] row_partition partition_rows(const csr_view<T>& matrix, int devices,
                                           int block_size = 1);

/// The same for rows wherever they lie: find_block_size() says `block_size` where nobody names one,
/// nonzeros_before(row) what equal_nonzeros() asks.
[[nodiscard]] row_partition
partition_rows(std::int64_t rows, int devices, int block_size,
               const std::function<std::int64_t(std::int64_t row)>& nonzeros_before);

/// Returns the number of rows of which boundaries between devices are multiples.
[[nodiscard]] std::int64_t row_alignment(std::int64_t rows, int devices);

} // namespace krylith
