// What other libraries take to transpose a matrix.
#pragma once

#include <memory>

#include <krylith/device/device.hpp>
#include <krylith/matrix/csr.hpp>

namespace krylith::bench {

/// The median of Eigen's transposition on one thread (it has no other). Throws usage_error for more
/// nonzeros than its index counts.
template <class T>
[[nodiscard]] double eigen_transpose_seconds(device& on, int repeats, const csr_matrix<T>& a);

/// The median of cuSPARSE's on a CUDA device, without the allocation of its buffer and its result.
/// Throws usage_error likewise, and measurement_failed where it is wrong.
template <class T>
[[nodiscard]] double cusparse_transpose_seconds(const std::shared_ptr<device>& on, int repeats,
                                                const csr_matrix<T>& a);

} // namespace krylith::bench
