// The matrices that solves with triangles are measured on.
#pragma once

#include <cstdint>
#include <vector>

#include <krylith/matrix/csr.hpp>

namespace krylith::bench {

/// The matrix with a diagonal of 1 + the sum of |a_ij| of its row, as incomplete factors of the
/// pattern might be: neither triangle is singular or lets errors grow. Throws input_error where it
/// isn't square.
template <class T>
[[nodiscard]] csr_matrix<T> with_dominant_diagonal(const csr_matrix<T>& a);

/// The rows and columns sorted by the colours that the greedy algorithm gives them, one row after
/// the other: red and black on a grid of 7 points. Rows of a colour don't refer to each other where
/// the pattern is symmetric.
template <class T>
[[nodiscard]] csr_matrix<T> by_colour(const csr_matrix<T>& a);

/// Substitution with the lower or upper triangle and its diagonal, sums in long double.
template <class T>
[[nodiscard]] std::vector<T> substitute(const csr_matrix<T>& a, bool upper,
                                        const std::vector<T>& b);

} // namespace krylith::bench
