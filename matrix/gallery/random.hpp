// Matrices without any structure. See matrix/gallery.hpp.
#pragma once

#include <cstdint>

#include <krylith/matrix/csr.hpp>

namespace krylith {

/// Random symmetric positive definite matrix without structure: the off-diagonal places are the
/// union of nnz_per_row - 1 random pairings of the rows, their values uniform in [-1, 1); the
/// diagonal is 1 + the sum of the row's other magnitudes, so all eigenvalues are at least 1. A row
/// has nnz_per_row entries, less where pairings coincide (small n) or leave it over (odd n).
/// nnz_per_row: 1 to 256.
template <class T>
[[nodiscard]] csr_matrix<T> random_spd(std::int64_t n, std::int64_t nnz_per_row,
                                       std::uint64_t seed);

/// A matrix with exactly nnz_per_row entries in every row, their columns drawn uniformly, their
/// values uniform in [-1, 1). Not symmetric, diagonal entries by chance only. nnz_per_row: 1 to
/// 256, at most n.
template <class T>
[[nodiscard]] csr_matrix<T> random_uniform(std::int64_t n, std::int64_t nnz_per_row,
                                           std::uint64_t seed);

} // namespace krylith
