// A prolongation of multigrid to measure products with.
#pragma once

#include <krylith/matrix/csr.hpp>

namespace krylith::bench {

/// Returns P = (I - 2/3 D^-1 A) T of smoothed aggregation (Vanek, Mandel, Brezina, Algebraic
/// multigrid by smoothed aggregation for second and fourth order elliptic problems, Computing 56,
/// 1996): T has a one in each row, at the row's aggregate; a row that none of whose neighbours has
/// an aggregate forms one with them. Rows ascend. For one thread, O(nonzeros).
template <class T>
[[nodiscard]] csr_matrix<T> smoothed_aggregation(const csr_matrix<T>& a);

} // namespace krylith::bench
