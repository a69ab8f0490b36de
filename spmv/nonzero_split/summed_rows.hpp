// Adds partial sums of peers to many rows, which a product does not complete itself.
#pragma once

#include <krylith/device/loops/backend_choice.hpp>
#include <krylith/sparse/device_matrix.hpp>

namespace krylith {

KRYLITH_HOST_AND_CUDA(
    /// Enqueues y[rows[m]] += alpha times the sums of the peers for all rows of a.partials, once
    /// these have come, and gives credit for them. It computes no dot products.
    template <class T> void add_partial_sums(device& device, const spmv_arguments<T>& a);)

} // namespace krylith
