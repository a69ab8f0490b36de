// Which consecutive rows are a block.
#pragma once

#include <cstdint>
#include <vector>

#include <krylith/distributed/distributed_csr.hpp>
#include <krylith/precond/blocks/block_view.hpp>

namespace krylith::detail {

/// Blocks of `size` rows, 1 to largest_block, from row 0 on; the last one may be smaller.
[[nodiscard]] std::vector<block_place> equal_blocks(std::int64_t rows, int size);

/// Natural blocks: runs of consecutive rows with equal patterns, as the unknowns of a node have.
/// Runs of more than largest_block rows are divided evenly. The patterns of rows are compared by
/// numbers of 64 bits. Cost: a pass over A's columns, and O(rows) on the host; waits for the
/// devices.
template <class T>
[[nodiscard]] std::vector<block_place> natural_blocks(const distributed_csr<T>& a);

} // namespace krylith::detail
