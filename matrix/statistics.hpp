// Properties of a matrix that can be told without solving: lengths of rows, symmetry, diagonal,
// values. The functions are pure and parallel, with the same results on any number of threads.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <krylith/matrix/csr.hpp>

namespace krylith {

/// The entries a row. All are 0 for a matrix without rows.
struct row_lengths {
    std::int64_t least = 0;
    std::int64_t most = 0;
    double mean = 0;
    double deviation = 0; ///< root of the mean squared distance from the mean
    double gini = 0;      ///< 0: all rows alike; towards 1: a few rows have all entries
    std::int64_t empty = 0;
};

/// A power law of the lengths of rows: of the rows with at least `from` entries a fraction
/// proportional to k^-exponent has k entries.
struct power_law {
    double exponent = 0;  ///< the likeliest
    double deviation = 0; ///< its standard error, by the curvature of the likelihood
    std::int64_t from = 0;
    std::int64_t rows = 0; ///< of at least `from` entries
    /// Kolmogorov and Smirnov's: the largest difference between the fraction of these rows up to a
    /// length and what the law says. Where it is above some hundredths, another law may fit better.
    double distance = 0;
};

/// An entry and the one on the other side of the diagonal (0 where none is stored).
struct mirrored_entry {
    std::int64_t row = 0;
    std::int64_t column = 0;
    double here = 0;
    double there = 0;
};

/// How far a matrix is symmetric. Counts are of stored off-diagonal entries. A value is equal to
/// its mirror if they agree to half the digits of T, or differ by no more than the rounding of
/// sqrt|a_ii a_jj|: assembly in another order leaves such differences.
struct symmetry_statistics {
    std::int64_t off_diagonal = 0;
    std::int64_t matched_places = 0; ///< the mirror is stored too
    std::int64_t matched_values = 0; ///< equal to the mirror
    std::int64_t negated_values = 0; ///< minus the mirror, to half the digits of T
    double largest_difference = 0;   ///< max |a_ij - a_ji|; what isn't finite is left out
    std::optional<mirrored_entry> first_difference; ///< the first by rows that isn't matched

    [[nodiscard]] bool by_pattern() const { return matched_places == off_diagonal; }
    [[nodiscard]] bool by_values() const { return matched_values == off_diagonal; }
};

/// Signs and sizes of the diagonal, and how it compares with the rest of its row. A row is weakly
/// dominant if |a_ii| >= sum of its other |a_ij|, up to the rounding of that sum, strictly if it is
/// greater by more than that.
struct diagonal_statistics {
    std::int64_t length = 0;  ///< min(rows, columns)
    std::int64_t missing = 0; ///< no entry stored
    std::int64_t zeros = 0;   ///< stored as 0
    std::int64_t positive = 0;
    std::int64_t negative = 0;
    double least = 0; ///< with sign, missing entries counted as 0
    double most = 0;
    double smallest = 0; ///< least magnitude of the entries that aren't 0
    std::int64_t weakly_dominant = 0;
    std::int64_t strictly_dominant = 0;
    std::int64_t worst_row = -1; ///< least |a_ii| / sum of the others; -1: no row has others
    double worst_ratio = 0;

    [[nodiscard]] bool has_zeros() const { return missing + zeros > 0; }
};

struct value_statistics {
    double smallest = 0; ///< least magnitude that isn't 0
    double largest = 0;
    std::int64_t zeros = 0; ///< stored
    std::int64_t not_finite = 0;
    std::int64_t zero_row_sums = 0; ///< rows with entries whose sum is 0 up to its rounding
};

struct bandwidths {
    std::int64_t lower = 0; ///< max row - column of an entry, at least 0
    std::int64_t upper = 0; ///< max column - row
};

/// The facts of a matrix. All but `stored`, `duplicates` and `sorted` describe the operator:
/// duplicates are summed first.
struct matrix_statistics {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t stored = 0;     ///< entries in the arrays
    std::int64_t duplicates = 0; ///< of these, how many add to an earlier one
    bool sorted = true;          ///< columns ascend in each row
    row_lengths lengths;
    std::optional<power_law> length_law; ///< fit_power_law()
    std::int64_t empty_columns = 0;
    bandwidths bandwidth;
    value_statistics values;
    diagonal_statistics diagonal;
    std::optional<symmetry_statistics> symmetry; ///< square matrices
    /// The first place where a_ij^2 >= a_ii a_jj up to rounding, which no positive definite matrix
    /// has; set for a symmetric matrix with a positive diagonal.
    std::optional<mirrored_entry> indefinite_at;

    [[nodiscard]] std::int64_t nnz() const { return stored - duplicates; }
    [[nodiscard]] bool square() const { return rows == columns; }
};

/// Measures row lengths; `offsets` as in CSR, rows + 1 entries. O(rows + longest row).
[[nodiscard]] row_lengths measure_row_lengths(std::span<const std::int64_t> offsets);

/// Fits a power law by maximum likelihood, and takes as `from` the length by which the distance is
/// least, of all lengths up to 32 and those a tenth longer each (Clauset, Shalizi, Newman,
/// Power-law distributions in empirical data, SIAM Review 51, 2009; the law of whole numbers, not
/// its approximation). Returns nothing where that would say nothing: for less than 100 rows of at
/// least `from` entries, or less than 10 of 10 times as many. O(rows + longest row + distinct
/// lengths times their logarithm).
[[nodiscard]] std::optional<power_law> fit_power_law(std::span<const std::int64_t> offsets);

/// Measures the symmetry of a square canonical matrix. It finds each upper entry's mirror by binary
/// search, and the lower ones' only if some have no partner: O(nnz log(row length)), next to no
/// memory.
template <class T>
[[nodiscard]] symmetry_statistics measure_symmetry(const csr_view<T>& matrix);

/// Finds matrix_statistics::indefinite_at of a symmetric canonical matrix with a positive diagonal.
/// O(nnz).
template <class T>
[[nodiscard]] std::optional<mirrored_entry> find_indefinite_minor(const csr_view<T>& matrix);

/// Bandwidth, values and diagonal of a canonical matrix in one pass. O(nnz).
struct entry_survey {
    bandwidths bandwidth;
    value_statistics values;
    diagonal_statistics diagonal;
};
template <class T>
[[nodiscard]] entry_survey survey_entries(const csr_view<T>& matrix);

/// The number of columns without entries. O(nnz + columns); a byte a column.
template <class T>
[[nodiscard]] std::int64_t count_empty_columns(const csr_view<T>& matrix);

/// Measures everything above. The matrix must pass validate(); one that is not canonical is copied
/// into canonical form first (to_csr). O(nnz log(row length)).
template <class T>
[[nodiscard]] matrix_statistics describe(const csr_view<T>& matrix);

template <class T>
[[nodiscard]] matrix_statistics describe(const csr_matrix<T>& matrix) {
    return describe(csr_view<T>(matrix));
}

} // namespace krylith
