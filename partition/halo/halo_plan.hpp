// The halo exchange before y = A x: who sends which entries of x to whom, where y is distributed by
// a partition of the rows of A and x by one of its columns. A square A mostly has one for both.
#pragma once

#include <krylith/partition/row_partition.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace krylith {

/// The entries that a rank gets from one peer: ghosts[first .. first + count).
struct halo_receive {
    int peer = 0;
    std::int64_t first = 0;
    std::int64_t count = 0;

    friend bool operator==(const halo_receive&, const halo_receive&) = default;
};

/// The entries that a rank gives to one peer, in the order in which they lie there.
struct halo_send {
    int peer = 0;
    std::vector<std::int32_t> rows; ///< of x, local to this rank: 0 is its first; ascending
    std::int64_t position = 0; ///< of the first entry among the peer's ghosts; the others follow

    friend bool operator==(const halo_send&, const halo_send&) = default;
};

/// One rank's side of the exchange. Peers ascend, none is named twice, none gets nothing.
struct local_halo {
    /// The global columns that the rank's rows reference and the rank does not own. They ascend, so
    /// those of one owner are together.
    std::vector<std::int64_t> ghosts;
    std::vector<halo_receive> receives;
    std::vector<halo_send> sends;
    /// The number of rows that reference no ghost and can be computed before anything arrives.
    std::int64_t interior_rows = 0;
    /// An entry for each owned row: 1 if it references a ghost, else 0. They are bytes, since
    /// threads write neighbours.
    std::vector<std::uint8_t> touches_ghost;

    friend bool operator==(const local_halo&, const local_halo&) = default;
};

/// The plan of a halo exchange. On each rank local indices are its owned columns, then its ghosts.
struct halo_plan {
    row_partition rows;    ///< who owns which rows of A, and entries of y
    row_partition columns; ///< who owns which columns of A, and entries of x
    std::vector<local_halo> local;

    /// The number of entries that the rank receives for each product, O(1), and sends, O(peers).
    /// All members here throw usage_error if there is no such rank.
    [[nodiscard]] std::int64_t ghost_count(int rank) const;
    [[nodiscard]] std::int64_t send_count(int rank) const;

    /// The number of owned columns plus ghosts. Throws input_error if it exceeds the 32 bits of
    /// local indices.
    [[nodiscard]] std::int32_t local_size(int rank) const;

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

/// Fills in receives and sends of a plan whose ranks have their ghosts, ascending and not owned.
/// O(ghosts). Throws input_error if a rank has too many entries for 32-bit indices.
void match_ghosts(halo_plan& plan);

/// Writes the columns of the rank's rows, in their order, as local indices: an owned column less
/// the first owned one, a ghost as the owned size plus its position among the ghosts. local_columns
/// has one entry for each nonzero of the rank's rows. O(nnz of the rank + span of the ghosts / 64),
/// with OpenMP. The plan must pass check(). Throws usage_error if a size is wrong and input_error
/// if a column is neither owned nor a ghost: the plan is for another pattern.
void localize_columns(const halo_plan& plan, int rank, std::span<const std::int64_t> row_offsets,
                      std::span<const std::int32_t> columns, std::span<std::int32_t> local_columns);

/// Throws usage_error naming the first violation in the plan for this pattern (the pattern itself
/// must be valid): the partitions; ghosts ascend, are not owned, and are exactly the columns
/// referenced from elsewhere; receives cover the ghosts and name their owners; sends and receives
/// match pairwise; rows are classified rightly. Throws input_error for a rank with too many entries
/// for 32-bit local indices. It has no code in common with make_halo_plan. Serial, O(nnz log
/// ghosts).
void check(const halo_plan& plan, std::span<const std::int64_t> row_offsets,
           std::span<const std::int32_t> columns);

} // namespace krylith
