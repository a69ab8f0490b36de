// The kernels of products by rows, by semiring.
#pragma once

#include <krylith/spmspv/kernels/first_terms.cuh>
#include <krylith/spmspv/kernels/grouped_rows.cuh>

namespace krylith::cuda {

template <class S, bool Masked>
void multiply_rows(device& device, const plain_arguments<S>& a) {
    if (a.rows.major_size == 0) return;
    if constexpr (S::first_suffices)
        multiply_by_first_terms<S, Masked>(device, a);
    else
        multiply_grouped_rows<S, Masked, false>(device, a);
}

template <class S, bool Masked>
void multiply_rows_balanced(device& device, const plain_arguments<S>& a) {
    if (a.rows.major_size != 0) multiply_grouped_rows<S, Masked, true>(device, a);
}

template <class S>
void multiply_by_rows(device& device, spmspv::kernel k, const plain_arguments<S>& a) {
    switch (k) {
    case spmspv::kernel::spmv: return multiply_rows<S, false>(device, a);
    case spmspv::kernel::spmv_balanced: return multiply_rows_balanced<S, false>(device, a);
    case spmspv::kernel::row: return multiply_rows<S, true>(device, a);
    default: return multiply_rows_balanced<S, true>(device, a);
    }
}

} // namespace krylith::cuda
