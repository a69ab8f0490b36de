// Around a product that krylith's kernels don't compute (cuSPARSE, a user's): the frame before it,
// dot products and messages to peers after it.
#pragma once

#include <krylith/device/cuda_device.cuh>
#include <krylith/spmv/spmv_kernel.cuh>
#include <krylith/vector/frame_after.hpp>
#include <krylith/vector/kernels.hpp>

namespace krylith::cuda {

/// Runs the frame and waits for the ghosts of x. The foreign product itself can't be skipped when
/// the loop has stopped; it may then only write y.
template <class T>
void before_product(device& where, const spmv_arguments<T>& a) {
    scalar_arguments s{a.common, 0, {}};
    if (a.ghosts.from != 0 && s.common.arrival_count == max_arrivals) {
        scalars(where, s);
        s.common = frame_after(a.common);
    }
    if (a.ghosts.from != 0) s.common.arrivals[s.common.arrival_count++] = a.ghosts;
    scalars(where, s);
}

/// `product` holds A x, or already y if it is a.y: y = alpha A x + beta y, dot products, and y to
/// the peers.
template <class T>
void after_product(device& where, const spmv_arguments<T>& a, std::int64_t rows, const T* product);

} // namespace krylith::cuda
