// A matrix whose entries are assigned to parts in any way, while rows, and with them the entries of
// y, are owned by one partition, and columns, and with them the entries of x, by another: what each
// part multiplies, and who adds up what. A square matrix mostly has one partition for both.
//
// Entries that a part holds of its own rows are its own block; those of rows that others own are
// its remote block, whose results go to the owners, one slot each. With parts of pCSR a part has
// at most one remote row, the first; with those of pCSC x has at most one ghost, and remote rows
// are wherever its columns have entries.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <krylith/partition/halo/halo_plan.hpp>
#include <krylith/partition/nonzero/nonzero_partition.hpp>
#include <krylith/partition/row_partition.hpp>

namespace krylith {

/// Who holds and who owns.
struct nonzero_assignment {
    row_partition rows;
    row_partition columns;
    std::vector<std::uint8_t> holder; ///< part of each entry, in the order of the CSR pattern
};

/// Who owns the rows where `owned` says who owns the columns, or the reverse: the same ranks of a
/// square matrix, and of others equally many.
[[nodiscard]] row_partition across(const row_partition& owned, std::int64_t count);

/// pCSR, and pCOO of entries sorted by rows: parts are ranges of the entries in CSR order. A row is
/// owned by the part with its first entry (pcsr.hpp). Of a matrix with as many columns as rows,
/// column i is owned by the part that owns row i; of any other parts own equally many columns.
/// O(nnz). Throws like make_pcsr, and usage_error for more than 255 parts.
[[nodiscard]] nonzero_assignment assign_by_rows(std::span<const std::int64_t> row_offsets,
                                                std::int64_t column_count,
                                                const nonzero_partition& entries);

/// pCSC: the same with rows and columns exchanged; entries of a column are in the order of rows.
/// O(nnz), 9 bytes a column besides the result.
[[nodiscard]] nonzero_assignment assign_by_columns(std::span<const std::int64_t> row_offsets,
                                                   std::span<const std::int32_t> columns,
                                                   std::int64_t column_count,
                                                   const nonzero_partition& entries);

/// Entries by rows, in the order of the matrix.
struct nonzero_split_block {
    std::vector<std::int64_t> offsets{0}; ///< rows + 1
    std::vector<std::int32_t> columns;    ///< local (halo_plan::columns)
    std::vector<std::int64_t> source;     ///< which entry of the matrix each is; they ascend

    [[nodiscard]] std::int64_t rows() const noexcept {
        return static_cast<std::int64_t>(offsets.size()) - 1;
    }
    friend bool operator==(const nonzero_split_block&, const nonzero_split_block&) = default;
};

/// Results of consecutive remote rows, which one peer owns.
struct nonzero_split_message {
    int peer = 0;
    std::int64_t first = 0; ///< remote row
    std::int64_t count = 0;
    std::int64_t position = 0; ///< the peer's slot of the first; the rest follow it

    friend bool operator==(const nonzero_split_message&, const nonzero_split_message&) = default;
};

struct local_split {
    nonzero_split_block own;                  ///< row i is owned row i
    nonzero_split_block remote;               ///< row f is row remote_rows[f] of the matrix
    std::vector<std::int64_t> remote_rows;    ///< ascending; each has entries here
    std::vector<nonzero_split_message> sends; ///< peers ascend; all remote rows

    /// What peers send: owned rows summed_rows[m], ascending, get slot[first_slot[m]] to
    /// slot[first_slot[m + 1] - 1], to be added in this order: that of parts.
    std::vector<std::int32_t> summed_rows;
    std::vector<std::int32_t> first_slot{0};
    std::vector<std::int32_t> slot;

    friend bool operator==(const local_split&, const local_split&) = default;
};

struct nonzero_split_plan {
    halo_plan halo; ///< of x; boundary rows are those of the own blocks
    std::vector<local_split> local;
};

/// O(nnz + parts n / 64) for n columns, with OpenMP; 12 bytes a nonzero. The pattern must be valid
/// (validate_pattern), and `assigned` of it. Throws usage_error if sizes disagree or a holder
/// is no part, input_error if a part is too large for 32-bit local indices.
[[nodiscard]] nonzero_split_plan make_nonzero_split_plan(std::span<const std::int64_t> row_offsets,
                                                         std::span<const std::int32_t> columns,
                                                         const nonzero_assignment& assigned);

/// Plans what parts send each other of their remote rows: sends, summed_rows, first_slot and slot
/// of a plan that has none of them yet. O(remote rows log parts).
void plan_partial_sums(nonzero_split_plan& plan);

/// Throws usage_error naming the first violation for this pattern: every entry is held once, by its
/// holder, in its row and column; ghosts are what is referenced; sends and slots match pairwise,
/// and each row adds up what was computed of it, in the order of parts. Shares no code with
/// make_nonzero_split_plan. Serial, O(nnz log n).
void check(const nonzero_split_plan& plan, std::span<const std::int64_t> row_offsets,
           std::span<const std::int32_t> columns, const nonzero_assignment& assigned);

} // namespace krylith
