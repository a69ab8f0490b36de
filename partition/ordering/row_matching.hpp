// A permutation of rows that brings large entries to the diagonal, with scalings.
#pragma once

#include <cstdint>
#include <vector>

#include <krylith/matrix/csr.hpp>

namespace krylith {

/// Row `row_at[j]` becomes row j. Of R A C, with R = diag(2^row_exponent) and
/// C = diag(2^column_exponent), no entry is above 4 in magnitude, and the entries that come to the
/// diagonal are between 1/4 and 4.
struct row_matching {
    std::vector<std::int32_t> row_at;
    std::vector<int> row_exponent;
    std::vector<int> column_exponent;
    std::int64_t matched; ///< rows whose entry on the new diagonal is there; n unless A is singular

    [[nodiscard]] bool moves() const;
};

/// Finds the permutation whose product of diagonal magnitudes is largest, by shortest augmenting
/// paths (Duff, Koster, On algorithms for permuting large entries to the diagonal of a sparse
/// matrix, SIMAX 22, 2001: job 5 of MC64). Entries that are 0 or not finite don't count. Where A is
/// structurally singular, the rows left over take the columns left over. `a` is square; it may
/// have columns several times, which count by their own. Cost: O(nnz log n) where few paths are
/// needed, O(n nnz log n) at worst; one thread.
[[nodiscard]] row_matching match_rows(const csr_view<double>& a);

/// Returns the same without a permutation or scaling, of n rows.
[[nodiscard]] row_matching rows_as_they_are(std::int64_t rows);

} // namespace krylith
