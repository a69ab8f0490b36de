// Which rows of y = A x each rank computes, and in which order, where every rank holds all of x and
// y: results of the first rows travel to the others while the rank computes its other rows. (2NZ,
// LRA and LRA+RC of Gao, Ji, Wang, Optimization of Large-Scale SpMV on Multi-GPU Systems, ACM TACO
// 21(4), 2024.)
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <krylith/matrix/types/longest_row.hpp>
#include <krylith/partition/row_partition.hpp>

namespace krylith {

/// What a rank computes before, or while, its results of the first stage travel.
enum class block_stage { first, second };

struct staged_rows {
    row_range rows; ///< not empty
    block_stage stage = block_stage::first;

    friend bool operator==(const staged_rows&, const staged_rows&) = default;
};

/// The most ranges that a rank computes and sends: short rows on both sides of the long ones, and
/// these.
inline constexpr std::size_t max_block_ranges = 3;

struct local_blocks {
    std::vector<staged_rows> ranges; ///< in the order of computation; all are sent to all others
    row_range counted;               ///< redundant rows that this rank adds to dot products

    friend bool operator==(const local_blocks&, const local_blocks&) = default;
};

struct block_partition {
    std::int64_t rows = 0;
    std::vector<local_blocks> local;
    /// Computed by every rank and never sent: behind its own rows where copy engines send these,
    /// among them where kernels store them.
    row_range redundant;

    /// The number of rows that the rank computes, redundant ones included.
    [[nodiscard]] std::int64_t computed(int rank) const;

    friend bool operator==(const block_partition&, const block_partition&) = default;
};

/// Fractions of the number of rows, each from 0 to 1 and together at most 1.
struct row_fractions {
    double long_rows = 0;
    double redundant = 0;

    friend bool operator==(const row_fractions&, const row_fractions&) = default;
};

/// The rule of the paper's table 3, found on its GPUs; that of LRA+RC where `redundant`, which from
/// 8 nonzeros a row on is an average over its machines. `direct` says that ranks reach each other's
/// memory, so that sending costs less and fewer rows are worth repeating.
[[nodiscard]] row_fractions usual_fractions(double nonzeros_a_row, int ranks, bool redundant,
                                            bool direct);

/// NZ: each rank computes one block, the rows that it owns.
[[nodiscard]] block_partition one_block(const row_partition& rows);

/// 2NZ: there are twice as many blocks of equal nonzeros as ranks; rank k computes blocks 2 k and 2
/// k + 1. Costs and errors are those of equal_nonzeros.
[[nodiscard]] block_partition two_blocks(std::span<const std::int64_t> row_offsets, int ranks,
                                         std::int64_t alignment = 1);

/// LRA: a fraction of the rows around the longest one is the *long block*: the first rows of the
/// matrix if the longest is among them, else the last ones if it is among these, else rows around
/// it. All others are short rows. They are many for their nonzeros and are computed first, so that
/// their results travel under the long block's computation. Both blocks are assigned to the ranks
/// by equal nonzeros. LRA+RC: a fraction of the rows, next to the long block or at the other end of
/// the rows on that side of it, whichever has fewer nonzeros, is redundant. Boundaries are
/// multiples of `alignment`, or the number of rows. `longest` is what validate() of the matrix has
/// returned, so that this costs O(ranks log rows) only. Throws as equal_nonzeros, and usage_error
/// for fractions that are none, and for a longest row that is not of these offsets.
[[nodiscard]] block_partition long_rows_last(std::span<const std::int64_t> row_offsets,
                                             const longest_row& longest, int ranks,
                                             const row_fractions& fractions,
                                             std::int64_t alignment = 1);

/// Throws usage_error naming the first violation: at least one rank; ranges are not empty, first
/// stage before second, at most max_block_ranges a rank; each row is computed by exactly one rank,
/// or is redundant; the ranks count each redundant row once. O(ranges log ranges).
void check(const block_partition& partition, std::int64_t rows);

} // namespace krylith
