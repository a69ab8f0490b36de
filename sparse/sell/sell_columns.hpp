// The columns of SELL slices: which must be stored, and in how many bits. Pure arithmetic, no
// values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <krylith/sparse/device_matrix/sell_view.hpp>
#include <krylith/sparse/pattern/sell_layout.hpp>

namespace krylith {

/// The columns of a block in SELL. In diagonal slices entry j of a row lies at the j-th
/// slice-column whose step names its lane, in the others at slice-column j: entries of a row keep
/// their order, and so the rounding of their sum. In slices of triples step j is that of
/// slice-columns 3 j to 3 j + 2.
struct sell_columns {
    std::vector<slice_head> heads; ///< [slices]
    std::vector<slice_step>
        steps; ///< [slice-columns], 0 where a slice has none; empty if all are wide
    std::vector<std::byte> stored; ///< in chunks of column_chunk bytes
};

/// Chooses the codes. `offsets` (rows + 1) and `indices` (from offsets[0] on) are the block in CSR
/// with local columns; rows may be unsorted and repeat columns.
/// A slice is diagonal where the (column - row) of each of its rows are a subsequence of those of
/// its longest row: rows at a boundary of a grid lack some. It has triples where every row is
/// triples of consecutive columns and most of the matrix is such, or else narrow columns; either
/// where no slice-column (of the first of each triple) spans more than 65535 columns. O(nnz), with
/// OpenMP; the result doesn't depend on the threads. Throws input_error where slice-columns or
/// chunks don't fit into 32 bits.
[[nodiscard]] std::vector<slice_head> choose_column_codes(const sell_layout& layout,
                                                          std::span<const std::int64_t> offsets,
                                                          std::span<const std::int32_t> indices);

/// Makes the codes, steps and stored columns. Cost and errors are those of choose_column_codes();
/// it needs no memory besides the result.
[[nodiscard]] sell_columns make_sell_columns(const sell_layout& layout,
                                             std::span<const std::int64_t> offsets,
                                             std::span<const std::int32_t> indices);

/// The bytes that a product reads of a matrix with values of `value_bytes`, padding included.
[[nodiscard]] std::int64_t sell_bytes(const sell_layout& layout, std::span<const slice_head> heads,
                                      std::int64_t value_bytes);

} // namespace krylith
