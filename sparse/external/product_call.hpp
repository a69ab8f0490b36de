// The call of a product function of the user: its arguments.
#pragma once

#include <cstdint>
#include <functional>

#include <krylith/partition/row_partition.hpp>

namespace krylith {

/// The part of y = A x that one device computes.
template <class T>
struct product_call {
    int rank;
    row_range rows; ///< global rows to compute: y[0] is rows.begin
    /// All n entries. With a halo plan x[0] is the first one that the device owns, and entry j is
    /// x[columns.local(j) - columns.first_owned()], where columns is plan.columns.local(rank):
    /// ghosts lie around the owned entries, in order.
    const T* x;
    T* y;         ///< rows.size() entries, all to be written
    void* stream; ///< cudaStream_t to enqueue on; null where x and y are host memory
};

template <class T>
using product_function = std::function<void(const product_call<T>&)>;

/// What a product function does, and where.
enum class product_kind {
    /// On CUDA devices it enqueues kernels on the stream and returns. It is called once for each
    /// product that is recorded, so it may not read values, wait, or allocate. On host devices it
    /// computes, on the worker thread of the device, once for every product.
    on_device,
    /// The same, where the function enqueues in every solve what it enqueued in the one before,
    /// with the same arguments (the arrays may have other values): solvers then keep what they have
    /// recorded, and CUDA devices repeat it without calls.
    on_device_alike,
    /// The same, called for every product, which may therefore allocate, as the array libraries of
    /// Python do. On CUDA devices the solve runs eagerly.
    on_device_eagerly,
    /// It computes from host memory. On CUDA devices x and y are copied to the host and back, and
    /// the solve runs eagerly.
    on_host
};

} // namespace krylith
