// All column kernels of a semiring.
#pragma once

#include <krylith/spmspv/kernels/column_atomic.cuh>
#include <krylith/spmspv/kernels/column_sort.cuh>

namespace krylith::cuda {

template <class S>
void multiply_by_columns(device& where, spmspv::kernel k, const plain_arguments<S>& a) {
    switch (k) {
    case spmspv::kernel::column_atomic: return multiply_columns_atomic<S, false>(where, a);
    case spmspv::kernel::column_balanced_atomic: return multiply_columns_atomic<S, true>(where, a);
    case spmspv::kernel::column_sort: return multiply_columns_sort<S, false>(where, a);
    default: return multiply_columns_sort<S, true>(where, a);
    }
}

} // namespace krylith::cuda
