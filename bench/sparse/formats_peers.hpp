// What other libraries take for a product y = A x.
#pragma once

#include <cstdint>
#include <memory>

#include <krylith/device/device.hpp>
#include <krylith/matrix/csr.hpp>

namespace krylith::bench {

struct product_peer_seconds {
    double product = 0; ///< median
    double set_up = 0;  ///< median; 0 where there is none
};

/// The median of Eigen's product, rows divided among all threads. Throws usage_error for more
/// nonzeros than its index counts.
template <class T>
[[nodiscard]] product_peer_seconds eigen_product_seconds(device& on, int repeats,
                                                         const csr_matrix<T>& a);

/// The median of cuSPARSE's product by the faster of its two algorithms for compressed rows, each
/// prepared by cusparseSpMV_preprocess, which is the set-up, in a CUDA graph of 20. Defined where
/// KRYLITH_HAVE_CUDA is
/// 1. Throws usage_error for more nonzeros than 32 bits count.
template <class T>
[[nodiscard]] product_peer_seconds cusparse_product_seconds(const std::shared_ptr<device>& on,
                                                            int repeats, const csr_matrix<T>& a);

} // namespace krylith::bench
