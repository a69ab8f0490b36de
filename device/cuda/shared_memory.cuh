// Dynamic shared memory of kernels.
#pragma once

#include <cstddef>

#include <krylith/device/cuda/cuda_check.cuh>

namespace krylith::cuda {

/// Asks for what a launch needs: more than 48 KB of shared memory, with what the kernel has by
/// itself, must be asked for. It asks for all that the current device has, since launches of other
/// threads may need more than this one.
template <class Kernel>
void allow_shared(Kernel kernel, std::size_t bytes) {
    constexpr std::size_t unasked = 48 << 10;
    cudaFuncAttributes own{};
    KRYLITH_CUDA_CHECK(cudaFuncGetAttributes(&own, kernel));
    if (bytes + own.sharedSizeBytes <= unasked) return;
    int device = 0;
    int most = 0;
    KRYLITH_CUDA_CHECK(cudaGetDevice(&device));
    KRYLITH_CUDA_CHECK(
        cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    KRYLITH_CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                            most - static_cast<int>(own.sharedSizeBytes)));
}

} // namespace krylith::cuda
