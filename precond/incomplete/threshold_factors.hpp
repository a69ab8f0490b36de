// Incomplete LU factorisation with thresholds, of one block in host memory.
#pragma once

#include <cstdint>

#include <krylith/matrix/csr.hpp>
#include <krylith/partition/ordering/row_matching.hpp>

namespace krylith {

/// What is kept of a row of L and U.
struct threshold_rule {
    double drop; ///< entries below drop times the row's mean magnitude go
    double fill; ///< L and U each keep at most fill times the mean entries of a row, or as many as
                 ///< the row itself has, whichever is more
};

/// L U = P A, but for what was dropped, where P moves row row_at[j] to j.
struct threshold_factors {
    csr_matrix<double> lower; ///< with its diagonal, which is the last entry of each row
    csr_matrix<double> upper; ///< with its diagonal, which is the first entry of each row
    std::int64_t replaced;    ///< pivots that were 0 or tiny
};

/// ILUT(p, tau) by rows (Saad, Numer. Linear Algebra Appl. 1, 1994; Iterative Methods, algorithm
/// 10.6) of the matrix whose rows are permuted and scaled as `matching` says; the scalings are
/// taken back in the factors, in which they are exact. A pivot below 1e-12 of its row's mean is
/// replaced by (1e-4 + drop) times that mean, 1 in a row of zeros, with its sign. Entries that are
/// not finite make factors that are not. `a` is square, and may have columns several times, which
/// add up. Cost: the multiplications, and a queue of the columns of a row; one thread.
[[nodiscard]] threshold_factors factor_by_threshold(const csr_view<double>& a,
                                                    const row_matching& matching,
                                                    const threshold_rule& rule);

} // namespace krylith
