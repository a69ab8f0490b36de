// What other libraries take to transpose a matrix.
#pragma once

#include <krylith/device/device.hpp>
#include <krylith/matrix/csr.hpp>

namespace krylith::bench {

/// The median of Eigen's transposition on one thread (it has no other). Throws usage_error for more
/// nonzeros than its index counts.
template <class T>
[[nodiscard]] double eigen_transpose_seconds(device& on, int repeats, const csr_matrix<T>& a);

} // namespace krylith::bench
