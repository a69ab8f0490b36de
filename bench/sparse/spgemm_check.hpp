// Whether C is A B.
#pragma once

#include <krylith/matrix/csr.hpp>
#include <krylith/sparse/device_csr.hpp>

namespace krylith::bench {

/// Compares C x with A (B x) in long double for a random x, and some 200 whole rows with the plain
/// product. Returns the largest |C x - A (B x)| / (|A| (|B| |x|)) of a row. Throws
/// measurement_failed where that is more than rounding can make it, a row has another pattern, or
/// C's columns don't ascend.
template <class T>
[[nodiscard]] double check_matrix_product(const csr_matrix<T>& a, const csr_matrix<T>& b,
                                          const device_csr<T>& c);

} // namespace krylith::bench
