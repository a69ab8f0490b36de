// Products y = A x by each format as lines of `krylith bench sparse`, and by the one that `auto`
// takes.
#pragma once

#include <vector>

#include <krylith/bench/sparse/sparse_kernel.hpp>

namespace krylith::bench {

/// A line for each format that the device has but those of other libraries, and a last one,
/// "auto", whose note names the format taken, the fastest, and what is lost. Formats that take four
/// times the bytes of csr are left out. Times are of products in a recorded loop.
template <class T>
[[nodiscard]] std::vector<sparse_line> formats_lines(const sparse_case<T>& c);

} // namespace krylith::bench
