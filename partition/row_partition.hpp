// Contiguous ranges of rows, one for each rank, and ways to choose their boundaries.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <krylith/device/language/cxx20.hpp>

namespace krylith {

/// The rows begin <= row < end; none where both are equal.
struct row_range {
    std::int64_t begin = 0;
    std::int64_t end = 0;

    [[nodiscard]] constexpr std::int64_t size() const noexcept { return end - begin; }
    [[nodiscard]] constexpr bool contains(std::int64_t row) const noexcept {
        return begin <= row && row < end;
    }
    friend bool operator==(const row_range&, const row_range&) = default;
};

/// A partition of rows: rank k owns the rows [begin[k], begin[k + 1]). A range may be empty: there
/// may be more ranks than rows. Any values can be stored; check() says whether they are a
/// partition.
struct row_partition {
    std::vector<std::int64_t> begin{0}; ///< ranks + 1 entries, from 0 to the number of rows

    [[nodiscard]] int ranks() const noexcept {
        return begin.empty() ? 0 : static_cast<int>(begin.size() - 1);
    }
    [[nodiscard]] std::int64_t rows() const noexcept { return begin.empty() ? 0 : begin.back(); }

    /// The rows that the rank owns. Throws usage_error if there is no such rank.
    [[nodiscard]] row_range owned(int rank) const;

    /// The one rank that owns the row; its range is never empty. O(log ranks). Throws usage_error
    /// if there is no such row.
    [[nodiscard]] int owner(std::int64_t row) const;

    friend bool operator==(const row_partition&, const row_partition&) = default;
};

/// Makes ranges whose sizes differ by at most `alignment` rows. Every boundary is a multiple of
/// `alignment`, or the number of rows. Throws usage_error unless rows >= 0, ranks >= 1 and
/// alignment >= 1.
[[nodiscard]] row_partition equal_rows(std::int64_t rows, int ranks, std::int64_t alignment = 1);

/// Makes ranges of equal nonzeros: the NZ partition of Gao, Ji and Wang (TACO 2024). The boundary
/// before rank k is the one nearest to k nnz / ranks nonzeros, so a rank holds at most nnz / ranks
/// plus the nonzeros of the largest row (of the largest `alignment` rows). Where a run of rows
/// without nonzeros leaves a choice, it is the boundary nearest to that of equal_rows: a matrix
/// without nonzeros is split into equal rows. Rows themselves weigh nothing: a rank may own many
/// sparse rows. O(ranks log rows); row_offsets must ascend, which is not checked here: if they
/// don't, the result is a partition without balance. Throws usage_error as equal_rows, and
/// input_error if the last offset is below the first.
[[nodiscard]] row_partition equal_nonzeros(std::span<const std::int64_t> row_offsets, int ranks,
                                           std::int64_t alignment = 1);

/// Makes the same for rows whose offsets do not lie in one array: `nonzeros_before(row)` is called
/// for 0 <= row <= rows, O(ranks log rows) times, and must be 0 for 0.
[[nodiscard]] row_partition
equal_nonzeros(std::int64_t rows,
               const std::function<std::int64_t(std::int64_t row)>& nonzeros_before, int ranks,
               std::int64_t alignment = 1);

/// Throws usage_error naming the first violation: at least one rank, begins at 0, never descends,
/// ends at `rows`. O(ranks).
void check(const row_partition& partition, std::int64_t rows);

} // namespace krylith
