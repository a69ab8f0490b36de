// What other libraries take to solve with a triangle.
#pragma once

#include <memory>
#include <vector>

#include <krylith/device/device.hpp>
#include <krylith/matrix/csr.hpp>
#include <krylith/sparse/device_csr.hpp>

namespace krylith::bench {

struct triangular_peer_seconds {
    double solve = 0;    ///< median
    double analysis = 0; ///< median; 0 where there is none
};

/// Eigen's triangularView, on one thread (it has no other). Throws usage_error for more nonzeros
/// than its index counts.
template <class T>
[[nodiscard]] triangular_peer_seconds eigen_triangular(device& on, int repeats,
                                                       const csr_matrix<T>& a, bool upper,
                                                       const std::vector<T>& b);

/// cuSPARSE's SpSV, its buffer kept. Offsets have 32 bits there: throws usage_error for more
/// nonzeros. Defined where KRYLITH_HAVE_CUDA is 1.
template <class T>
[[nodiscard]] triangular_peer_seconds cusparse_triangular(const std::shared_ptr<device>& on,
                                                          int repeats, const device_csr<T>& a,
                                                          bool upper, const std::vector<T>& b);

} // namespace krylith::bench
