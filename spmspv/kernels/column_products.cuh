// All column kernels of a semiring.
#pragma once

#include <krylith/spmspv/kernels/column_atomic.cuh>
#include <krylith/spmspv/kernels/column_sort.cuh>

namespace krylith::cuda {

template <class S>
void multiply_by_columns(device& device, spmspv::kernel k, const plain_arguments<S>& a) {
    switch (k) {
    case spmspv::kernel::column_atomic: return multiply_columns_atomic<S, false>(device, a);
    case spmspv::kernel::column_balanced_atomic: return multiply_columns_atomic<S, true>(device, a);
    case spmspv::kernel::column_sort: return multiply_columns_sort<S, false>(device, a);
    default: return multiply_columns_sort<S, true>(device, a);
    }
}

} // namespace krylith::cuda
