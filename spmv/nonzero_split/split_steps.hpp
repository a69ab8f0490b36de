// Steps that all cuts of a matrix between entries share (split_matrix.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <krylith/spmv/nonzero_split/split_matrix.hpp>

namespace krylith {

/// An entry of the diagonal that a rank holds of a remote row.
struct found_entry {
    std::int64_t place; ///< in the remote block
    std::int64_t row;   ///< of the matrix
};

/// Finds them in a remote block with global columns, whose rows these are. Waits for the device.
[[nodiscard]] std::vector<found_entry> find_diagonal(const std::shared_ptr<device>& device,
                                                     const resident_rows& remote,
                                                     const std::vector<std::int64_t>& rows);

/// Notes with the owners of rows what `rank` holds.
void add_diagonal(split_matrix& to, int rank, std::span<const found_entry> found);

/// Numbers the columns of the ranks' blocks, which are global, and plans what ranks exchange: the
/// plan has its rows and the remote rows.
void number_columns(const communicator& comm, row_partition columns, split_matrix& split);

} // namespace krylith
