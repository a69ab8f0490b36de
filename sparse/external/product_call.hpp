// A user's own product: what its function is given.
#pragma once

#include <cstdint>
#include <functional>

#include <krylith/partition/row_partition.hpp>

namespace krylith {

/// One device's part of y = A x.
template <class T>
struct product_call {
    int rank;
    row_range rows; ///< global rows to compute: y[0] is rows.begin
    const T* x;     ///< all n entries; with a halo plan the owned ones, then the ghosts
    T* y;           ///< rows.size() entries, all to be written
    void* stream;   ///< cudaStream_t to enqueue on; null where x and y are host memory
};

template <class T>
using product_function = std::function<void(const product_call<T>&)>;

/// What a product function does.
enum class product_kind {
    /// CUDA devices: enqueues kernels on the stream and returns; it is called once for each product
    /// that is recorded, so it may not look at values, wait, or allocate. Host devices: computes,
    /// on the device's worker thread, once for every product.
    on_device,
    /// Computes from host memory. On CUDA devices x and y are copied to and fro and the solve runs
    /// eagerly.
    on_host
};

} // namespace krylith
