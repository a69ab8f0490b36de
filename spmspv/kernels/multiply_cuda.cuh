// The choice among the eight products on CUDA, for any semiring: of its kernels the launches alone.
#pragma once

#include <string>
#include <type_traits>

#include <krylith/device/cuda/cuda_check.cuh>
#include <krylith/device/error.hpp>
#include <krylith/spmspv/kernels/product_launches.hpp>

namespace krylith::cuda {

/// Values of the semiring's type; where it reads none, none.
template <class S, class M>
spmspv::compressed_view<typename S::value_type> plain_matrix(const spmspv::compressed_view<M>& a) {
    using T = typename S::value_type;
    const T* values = nullptr;
    if constexpr (S::reads_matrix) {
        static_assert(std::is_same_v<M, T>, "a semiring reads values of its own type");
        values = a.values;
    }
    return {a.offsets, a.indices, values, a.major_size, a.across, a.nonzeros};
}

template <class S, class M>
void multiply(device& device, spmspv::kernel k, const spmspv::product_arguments<S, M>& a) {
    const plain_arguments<S> plainly{plain_matrix<S>(a.rows),
                                     plain_matrix<S>(a.columns),
                                     a.x,
                                     a.y,
                                     a.alpha,
                                     a.beta,
                                     a.skip_rows,
                                     a.pairs,
                                     a.chunks,
                                     a.scratch,
                                     a.entries,
                                     a.frontier_nonzeros};
    if (direction_of(k) != spmspv::direction::push) return multiply_by_rows<S>(device, k, plainly);
    const current_device current(device.ordinal()); // as in kernel_scratch_bytes()
    if (write_back_of(k) == spmspv::write_back::sort && a.frontier_nonzeros < 0)
        throw usage_error("sparse product by " + std::string(to_string(k)) +
                          ": frontier_nonzeros is not given, it must be counted before");
    multiply_by_columns<S>(device, k, plainly);
}

} // namespace krylith::cuda
