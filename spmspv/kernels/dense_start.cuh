// The start of column kernels that add into y's dense array, where nothing else of y is wanted.
#pragma once

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/spmspv/kernels/product_launches.hpp>
#include <krylith/spmspv/kernels/semiring_result.cuh>
#include <krylith/spmspv/kernels/vector_conversion.hpp>
#include <krylith/vector/execution/kernel_context_cuda.cuh>

namespace krylith::cuda {

template <class T>
__global__ void __launch_bounds__(block_threads) scale_kernel(T* y, std::uint32_t count, T beta) {
    const std::uint32_t stride = gridDim.x * block_threads;
    for (std::uint32_t i = blockIdx.x * block_threads + threadIdx.x; i < count; i += stride)
        y[i] *= beta;
}

/// Sets dense to beta y, or to absent everywhere. One launch: 4 m bytes (fp32), 8 m with beta.
template <class S>
void prepare_dense(device& device, const plain_arguments<S>& a) {
    using T = typename S::value_type;
    if constexpr (spmspv::scales<S>) {
        if (a.beta != T(0)) {
            if (a.beta == T(1) || a.y.size == 0) return;
            const launch_scope launch(device);
            const auto kernel = scale_kernel<T>;
            kernel<<<launch.blocks(kernel, block_threads,
                                   (a.y.size + block_threads - 1) / block_threads),
                     block_threads, 0, launch.stream()>>>(
                a.y.dense, static_cast<std::uint32_t>(a.y.size), a.beta);
            return launch.check_launch();
        }
    }
    fill_absent(device, a.y);
}

} // namespace krylith::cuda
