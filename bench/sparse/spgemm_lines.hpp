// Products of matrices as lines of `krylith bench sparse`: A A of a square A, and A P, R (A P) of a
// multigrid method's finest level, whole and with new values only.
#pragma once

#include <vector>

#include <krylith/bench/sparse/sparse_kernel.hpp>

namespace krylith::bench {

/// Throws input_error for a matrix that is not square.
template <class T>
[[nodiscard]] std::vector<sparse_line> spgemm_lines(const sparse_case<T>& c);

} // namespace krylith::bench
