// What a few hundred rows of a matrix tell of the rest.
#pragma once

#include <cstdint>

#include <krylith/distributed/distributed_csr.hpp>
#include <krylith/matrix/csr.hpp>

namespace krylith {

/// The rows are of B = |D|^-1/2 A |D|^-1/2, D the diagonal of A, so that it doesn't matter in which
/// units the unknowns are. A row counts as not dominant where it has no diagonal entry, where a
/// diagonal entry of its columns is not found, and where it is longer than longest_sampled_row.
struct row_sample {
    std::int64_t rows = 0;     ///< that were looked at
    std::int64_t dominant = 0; ///< |b_ii| >= 0.9 times the sum of the other |b_ij|
    double largest_sum = 0;    ///< the largest of these sums over |b_ii|; infinite without b_ii
    double off_diagonal = 0;   ///< the sum of all |b_ij|
    double positive = 0;       ///< of these, those with the sign of b_ii

    /// Whether Jacobi's method alone converges in a few hundred iterations, so that Krylov methods
    /// take a few dozen.
    [[nodiscard]] bool easy() const { return rows > 0 && largest_sum <= 0.95; }
    /// Whether A looks like a matrix of convection with diffusion by upwind differences: nearly an
    /// M-matrix, with a diagonal that is about as large as the rest of its row.
    [[nodiscard]] bool like_transport() const {
        return rows > 0 && 10 * dominant >= 9 * rows && positive <= 0.1 * off_diagonal;
    }
};

inline constexpr std::int64_t longest_sampled_row = 256;

/// Looks at `most` rows by an integer hash of their numbers, at all where there are no more. The
/// matrix is square; its columns may be unsorted, and entries at one place add up only where they
/// are on the diagonal. Cost: `most` times the square of the length of rows, one thread.
template <class T>
[[nodiscard]] row_sample sample_rows(const csr_view<T>& matrix, std::int64_t most = 256);

/// The same of a matrix over a group, whose sampled rows all drivers get. Nothing of one on GPUs.
/// Collective.
template <class T>
[[nodiscard]] row_sample sample_rows(const distributed_csr<T>& matrix, std::int64_t most = 256);

} // namespace krylith
