// Which kernels the products of rows are, by semiring.
#pragma once

#include <krylith/spmv/spmspv/first_terms.cuh>
#include <krylith/spmv/spmspv/streamed_rows.cuh>

namespace krylith::cuda {

template <class S>
void multiply_by_rows(device& where, spmspv::kernel k, const plain_arguments<S>& a) {
    if (a.rows.lines == 0) return;
    switch (k) {
    case spmspv::kernel::spmv_balanced: return multiply_streamed_rows<S, false, true>(where, a);
    case spmspv::kernel::row_balanced: return multiply_streamed_rows<S, true, true>(where, a);
    default: break;
    }
    const bool masked = k == spmspv::kernel::row;
    if constexpr (S::first_suffices) {
        if (masked) return multiply_by_first_terms<S, true>(where, a);
        multiply_by_first_terms<S, false>(where, a);
    } else {
        if (masked) return multiply_streamed_rows<S, true, false>(where, a);
        multiply_streamed_rows<S, false, false>(where, a);
    }
}

} // namespace krylith::cuda
