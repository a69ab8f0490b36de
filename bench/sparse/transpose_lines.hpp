// The transposition of a matrix as lines of `krylith bench sparse`.
#pragma once

#include <vector>

#include <krylith/bench/sparse/sparse_kernel.hpp>

namespace krylith::bench {

template <class T>
[[nodiscard]] std::vector<sparse_line> transpose_lines(const sparse_case<T>& c);

} // namespace krylith::bench
