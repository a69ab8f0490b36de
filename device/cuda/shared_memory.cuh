// Dynamic shared memory of kernels.
#pragma once

#include <cstddef>

#include <krylith/device/cuda/cuda_check.cuh>

namespace krylith::cuda {

/// Asks for what a launch needs: more than 48 KB of shared memory must be asked for.
template <class Kernel>
void allow_shared(Kernel kernel, std::size_t bytes) {
    constexpr std::size_t unasked = 48 << 10;
    if (bytes > unasked)
        KRYLITH_CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                static_cast<int>(bytes)));
}

} // namespace krylith::cuda
