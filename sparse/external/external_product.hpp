// Around a product that is not one kernel of krylith's (cuSPARSE, a user's, one that looks at x
// first): the domain vector's ghosts before it, dot products and messages to peers after it.
#pragma once

#include <krylith/sparse/device_matrix.hpp>
#include <krylith/vector/kernels/kernels.hpp>
#include <krylith/vector/scalar/context_after.hpp>

namespace krylith::host {

/// Enqueues a wait for the ghosts of x. The kernel context is left to after_product().
template <class T>
void before_product(device& device, const spmv_arguments<T>& a);

/// Enqueues the rest, in the terms of cuda::after_product().
template <class T>
void after_product(device& device, const spmv_arguments<T>& a, std::int64_t rows, const T* product);

} // namespace krylith::host

namespace krylith::cuda {

/// Runs the kernel context and waits for the ghosts of x. The external product itself can't be
/// skipped when the loop has stopped; it may then only write y.
template <class T>
void before_product(device& device, const spmv_arguments<T>& a) {
    scalar_arguments s{a.common, 0, {}};
    if (a.ghosts.from != 0 && s.common.signal_count == max_signals) {
        scalars(device, s);
        s.common = context_after(a.common);
    }
    if (a.ghosts.from != 0) s.common.signals[s.common.signal_count++] = a.ghosts;
    scalars(device, s);
}

/// What is left of `a` for a product by a kernel of krylith's after all.
template <class T>
[[nodiscard]] spmv_arguments<T> after_waiting(const spmv_arguments<T>& a) {
    spmv_arguments<T> rest = a;
    rest.common = context_after(a.common);
    rest.ghosts.from = 0;
    return rest;
}

/// `product` holds A x, or already y if it is a.y: y = alpha A x + beta y, dot products, and y to
/// the peers.
template <class T>
void after_product(device& device, const spmv_arguments<T>& a, std::int64_t rows, const T* product);

} // namespace krylith::cuda
