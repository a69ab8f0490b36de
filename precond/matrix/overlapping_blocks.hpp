// The blocks of an overlapping decomposition: of each rank its own rows, and those around them.
#pragma once

#include <cstdint>
#include <vector>

#include <krylith/distributed/distributed_csr.hpp>
#include <krylith/distributed/source/local_columns.hpp>

namespace krylith::detail {

/// The block of rank k has the rows of rows[k] in their order, those that the rank owns and, as
/// ghosts, those that these refer to; and of their entries those in columns of the same numbers.
template <class T>
struct overlapping_blocks {
    /// [ranks] Matrix k is alone_on() rank k.
    std::vector<distributed_csr<T>> matrices;
    std::vector<local_columns> rows; ///< [ranks]
};

/// Adds, `overlap` times, to the rows of each rank those that they refer to. Rows travel from
/// device to device. Columns of `matrix`, which is square with one partition, ascend in each row.
/// Waits for the devices. Collective. Needs, while it works, the entries of the blocks a second
/// time.
template <class T>
[[nodiscard]] overlapping_blocks<T> make_overlapping_blocks(const distributed_csr<T>& matrix,
                                                            int overlap);

} // namespace krylith::detail
