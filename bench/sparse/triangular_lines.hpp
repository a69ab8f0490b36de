// `krylith bench sparse --kernels triangular`: solves with both triangles of a matrix.
#pragma once

#include <vector>

#include <krylith/bench/sparse/sparse_kernel.hpp>

namespace krylith::bench {

/// Lines for the lower and the upper triangle, by each method, and for new values; and for the
/// lower triangle with rows sorted by colour. The set-up is the analysis.
template <class T>
[[nodiscard]] std::vector<sparse_line> triangular_lines(const sparse_case<T>& c);

} // namespace krylith::bench
