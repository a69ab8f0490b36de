// The rows that LRA and LRA+RC treat apart (partition/replicated/block_partition.hpp).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <krylith/partition/row_partition.hpp>

namespace krylith {

/// Returns `size` of `rows` rows that hold row `longest`: the first or the last, if they do, those
/// of the nearer end if both do; else rows around it. They begin at a multiple of `alignment`, and
/// end at one or with the rows.
[[nodiscard]] row_range find_long_block(std::int64_t rows, std::int64_t longest, std::int64_t size,
                                        std::int64_t alignment);

/// Returns `size` rows (at most what is there) of the larger side of the long block: those next to
/// it or those farthest from it, whichever have fewer nonzeros a row. Boundaries are as above.
[[nodiscard]] row_range find_redundant_block(std::span<const std::int64_t> row_offsets,
                                             row_range long_block, std::int64_t size,
                                             std::int64_t alignment);

/// Returns the rows in neither block: at most two ranges, ascending, none empty, if the redundant
/// block comes from find_redundant_block.
[[nodiscard]] std::vector<row_range> short_rows(std::int64_t rows, row_range long_block,
                                                row_range redundant_block);

} // namespace krylith
