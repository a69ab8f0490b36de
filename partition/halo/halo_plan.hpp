// The halo exchange before y = A x: who sends which entries of x to whom, where y is distributed by
// a partition of the rows of A and x by one of its columns. A square A mostly has one for both.
#pragma once

#include <krylith/partition/halo/index_map.hpp>
#include <krylith/partition/row_partition.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace krylith {

/// The rows of a rank, by whether they refer to ghosts.
struct boundary_rows {
    /// The number of rows that reference no ghost and can be computed before anything arrives.
    std::int64_t interior_rows = 0;
    /// An entry for each owned row: 1 if it references a ghost, else 0. They are bytes, since
    /// threads write neighbours.
    std::vector<std::uint8_t> touches_ghost;

    friend bool operator==(const boundary_rows&, const boundary_rows&) = default;
};

/// The plan of a halo exchange.
struct halo_plan {
    row_partition rows; ///< who owns which rows of A, and entries of y
    index_map columns;  ///< who owns which columns of A, and entries of x, and has which others
    std::vector<boundary_rows> boundary; ///< [ranks]

    /// The number of entries that the rank receives for each product, and sends. O(1), as all
    /// members here, which throw usage_error if there is no such rank.
    [[nodiscard]] std::int64_t ghost_count(int rank) const {
        return columns.local(rank).ghost_count();
    }
    [[nodiscard]] std::int64_t send_count(int rank) const { return columns.given(rank); }
    /// The number of owned columns plus ghosts.
    [[nodiscard]] std::int32_t local_size(int rank) const {
        return static_cast<std::int32_t>(columns.local(rank).count());
    }

    friend bool operator==(const halo_plan&, const halo_plan&) = default;
};

/// Plans the exchange for a CSR pattern of of_rows.rows() x of_columns.rows(); rows may
/// repeat columns and be unsorted. O(nnz + ranks n / 64) for n columns, with OpenMP over the rows
/// of one rank after the other, so that all cores work however few the ranks; reads the columns
/// once. Needs n / 4 bytes besides the plan. Throws usage_error if a partition is none or the two
/// have another number of ranks, input_error if offsets and partition disagree, an offset or a
/// column is out of range (the first row at fault is named), or a rank has too many entries for
/// 32-bit local indices.
[[nodiscard]] halo_plan make_halo_plan(std::span<const std::int64_t> row_offsets,
                                       std::span<const std::int32_t> columns, row_partition of_rows,
                                       row_partition of_columns);

/// Plans the same for a square pattern whose rows and columns have one partition.
[[nodiscard]] inline halo_plan make_halo_plan(std::span<const std::int64_t> row_offsets,
                                              std::span<const std::int32_t> columns,
                                              const row_partition& partition) {
    return make_halo_plan(row_offsets, columns, partition, partition);
}

/// The plan of an exchange in which every rank with rows gets all entries of x that it does not
/// own: what a matrix without structure needs, without lists of what is sent. The pattern is valid
/// (validate_pattern). O(nnz), with OpenMP. Throws as make_halo_plan() does.
[[nodiscard]] halo_plan make_allgather_plan(std::span<const std::int64_t> row_offsets,
                                            std::span<const std::int32_t> columns,
                                            row_partition of_rows, row_partition of_columns);
/// The columns of such a plan: ranks without rows have their own alone.
[[nodiscard]] index_map all_columns(const row_partition& of_rows, row_partition of_columns);

/// Says which rows refer to ghosts; offsets begin with 0, columns are local. O(nonzeros), with
/// OpenMP.
[[nodiscard]] boundary_rows find_boundary(std::span<const std::int64_t> offsets,
                                          std::span<const std::int32_t> local_columns,
                                          const local_indices& indices);

/// Writes the columns of the rank's rows, in their order, as local indices. local_columns has one
/// entry for each nonzero of the rank's rows. O(nnz of the rank + span of the ghosts / 64), with
/// OpenMP. The plan must pass check(). Throws usage_error if a size is wrong and input_error if a
/// column is neither owned nor a ghost: the plan is for another pattern.
void localize_columns(const halo_plan& plan, int rank, std::span<const std::int64_t> row_offsets,
                      std::span<const std::int32_t> columns, std::span<std::int32_t> local_columns);

/// Throws usage_error naming the first violation in the plan for this pattern (the pattern itself
/// must be valid): the partitions; ghosts ascend, are not owned, and are exactly the columns
/// referenced from elsewhere, or all where a rank has no list; rows are classified rightly. It has
/// no code in common with the functions that make plans. Serial, O(nnz log ghosts).
void check(const halo_plan& plan, std::span<const std::int64_t> row_offsets,
           std::span<const std::int32_t> columns);

} // namespace krylith
