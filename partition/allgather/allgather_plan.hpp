// The exchange before y = A x in which every rank gets all entries of x that it does not own: the
// halo plan of a matrix without structure, without lists of what is sent.
#pragma once

#include <krylith/partition/row_partition.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace krylith {

/// The plan of an allgather. On a rank with rows, local indices are its owned columns, then all
/// other columns in their order; a rank without rows receives nothing. So the entries of one owner
/// are together, and local indices are arithmetic: a plan takes a byte a row, whatever the pattern.
struct allgather_plan {
    struct local_rows {
        /// The number of rows that reference no entry of others and can be computed before any
        /// arrives.
        std::int64_t interior_rows = 0;
        /// An entry for each owned row: 1 if it references an entry of others, else 0.
        std::vector<std::uint8_t> touches_ghost;

        friend bool operator==(const local_rows&, const local_rows&) = default;
    };
    row_partition rows;    ///< who owns which rows of A, and entries of y
    row_partition columns; ///< who owns which columns of A, and entries of x
    std::vector<local_rows> local;

    /// The number of entries that the rank receives for each product. Like all members here it
    /// costs O(1), and throws usage_error if there is no such rank.
    [[nodiscard]] std::int64_t ghost_count(int rank) const;

    /// The place where the entries of `owner`, another rank with columns, begin among the ghosts of
    /// `rank`.
    [[nodiscard]] std::int64_t position(int rank, int owner) const;

    /// The number of owned columns plus ghosts. Throws input_error if it exceeds the 32 bits of
    /// local indices.
    [[nodiscard]] std::int32_t local_size(int rank) const;

    friend bool operator==(const allgather_plan&, const allgather_plan&) = default;
};

/// Plans the exchange for a CSR pattern of of_rows.rows() x of_columns.rows() that is valid
/// (validate_pattern). O(nnz), with OpenMP. Throws usage_error if a partition is none, the one of
/// rows is not of the pattern's rows, or the two have another number of ranks, and input_error if
/// there are too many columns for 32-bit local indices.
[[nodiscard]] allgather_plan make_allgather_plan(std::span<const std::int64_t> row_offsets,
                                                 std::span<const std::int32_t> columns,
                                                 row_partition of_rows, row_partition of_columns);

/// Plans the same for a square pattern whose rows and columns have one partition.
[[nodiscard]] inline allgather_plan make_allgather_plan(std::span<const std::int64_t> row_offsets,
                                                        std::span<const std::int32_t> columns,
                                                        const row_partition& partition) {
    return make_allgather_plan(row_offsets, columns, partition, partition);
}

/// Writes the columns of the rank's rows, in their order, as local indices; local_columns has one
/// entry for each nonzero of these rows. O(nnz of the rank), with OpenMP, no memory. Throws
/// usage_error if a size is wrong.
void localize_columns(const allgather_plan& plan, int rank,
                      std::span<const std::int64_t> row_offsets,
                      std::span<const std::int32_t> columns, std::span<std::int32_t> local_columns);

/// Throws usage_error naming the first violation in the plan for this pattern (which must be
/// valid): the partitions; rows are classified rightly; positions tile each rank's ghosts, each
/// owner's entries once and in the order of the columns. It has no code in common with
/// make_allgather_plan. Serial, O(nnz + ranks^2).
void check(const allgather_plan& plan, std::span<const std::int64_t> row_offsets,
           std::span<const std::int32_t> columns);

} // namespace krylith
