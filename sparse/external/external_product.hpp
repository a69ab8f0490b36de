// Kernels before and after a product that is not one kernel of krylith (cuSPARSE, a user's, one
// that inspects x first): before it they wait for the ghosts of x; after it they compute dot
// products and send to peers.
#pragma once

#include <krylith/sparse/device_matrix.hpp>
#include <krylith/vector/execution/context_after.hpp>
#include <krylith/vector/kernels/kernels.hpp>

namespace krylith::host {

/// Enqueues a wait for the ghosts of x. after_product() performs the kernel context.
template <class T>
void before_product(device& device, const spmv_arguments<T>& a);

/// Enqueues the rest; cuda::after_product() says what.
template <class T>
void after_product(device& device, const spmv_arguments<T>& a, std::int64_t rows, const T* product);

} // namespace krylith::host

namespace krylith::cuda {

/// Runs the kernel context and waits for the ghosts of x. The external product itself can't be
/// skipped when the loop has stopped; it may then only write y.
template <class T>
void before_product(device& device, const spmv_arguments<T>& a) {
    scalar_arguments s{a.common, 0, {}, {}};
    if (a.ghosts.senders != 0 && s.common.signal_count == max_signals) {
        scalars(device, s);
        s.common = context_after(a.common);
    }
    if (a.ghosts.senders != 0) s.common.signals[s.common.signal_count++] = a.ghosts;
    scalars(device, s);
}

/// Returns what is left of `a` for a product by one kernel of krylith that follows.
template <class T>
[[nodiscard]] spmv_arguments<T> after_waiting(const spmv_arguments<T>& a) {
    spmv_arguments<T> rest = a;
    rest.common = context_after(a.common);
    rest.ghosts.senders = 0;
    return rest;
}

/// Whether y's rows are consecutive, and go nowhere else: a product may write them.
template <class T>
[[nodiscard]] bool leaves_rows_in_place(const spmv_arguments<T>& a) {
    return a.map.count == 0 && a.put.targets == nullptr;
}

/// Computes y = alpha A x + beta y and the dot products, and sends y to the peers. `product` holds
/// A x, or already y if it is a.y.
template <class T>
void after_product(device& device, const spmv_arguments<T>& a, std::int64_t rows, const T* product);

} // namespace krylith::cuda
