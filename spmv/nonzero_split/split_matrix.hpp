// A matrix that is cut between entries, while the blocks of its operator are made: the plan, and on
// CUDA devices the patterns, which the host does not have there.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <krylith/distributed/source/column_deal.hpp>
#include <krylith/distributed/source/matrix_source.hpp>
#include <krylith/partition/nonzero/entry_list.hpp>
#include <krylith/partition/nonzero/nonzero_split_plan.hpp>

namespace krylith {

/// The way of values from the rows of ranks to those that hold them.
struct column_values {
    std::vector<dealt_order> given;        ///< [ranks]
    std::vector<std::int64_t> first_given; ///< [ranks + 1] entries of the rows of ranks
    std::vector<std::int64_t> first_held;  ///< [ranks + 1] entries that ranks hold
};

struct split_block {
    entry_list entries;
    resident_rows there; ///< with local columns; empty where the plan has the block
};

/// An entry of the diagonal that another device than the owner of its row holds.
struct held_elsewhere {
    std::int32_t row;   ///< of the owner
    std::int64_t entry; ///< its number in the order of the blocks' lists
};

struct split_matrix {
    nonzero_split_plan plan;         ///< its blocks are empty where devices have them
    std::vector<split_block> own;    ///< [ranks]
    std::vector<split_block> remote; ///< [ranks] rows f are plan.local[rank].remote_rows
    std::vector<std::vector<held_elsewhere>> diagonal; ///< [ranks] by owner
    /// What blocks refer to while they are made, where it is neither theirs nor the caller's.
    std::vector<dealt_rows> held = {};
    /// How values get to the ranks that hold them, where devices dealt them out by columns; entry
    /// lists are then of what ranks hold, one rank after the other. Null: they are of the matrix.
    std::shared_ptr<const column_values> dealt = nullptr;
};

/// Cuts a pattern in host memory, which must be valid, and plans there.
[[nodiscard]] split_matrix split_on_host(std::span<const std::int64_t> row_offsets,
                                         std::span<const std::int32_t> columns,
                                         const nonzero_assignment& assigned);

/// Cuts a matrix by ranges of its entries on CUDA devices, whose rows and columns these partitions
/// own. The offsets of all rows are in host memory and valid. Throws what validate() throws.
template <class T>
[[nodiscard]] split_matrix split_by_ranges(const communicator& comm, const matrix_source<T>& source,
                                           const nonzero_partition& entries, row_partition rows,
                                           row_partition columns);

/// The owners of rows and columns.
struct split_owners {
    row_partition rows;
    row_partition columns;
};

/// Cuts a matrix whose pattern lies on CUDA devices by ranges of its entries in the order of
/// columns. Nothing for `owners`: those that assign_by_columns() returns.
[[nodiscard]] split_matrix split_by_columns(const resident_matrix& matrix,
                                            const std::optional<split_owners>& owners);

} // namespace krylith
