// Launches of kernels whose blocks wait for each other.
#pragma once

#include <cstddef>
#include <utility>

#include <krylith/device/cuda/cuda_device.cuh>

namespace krylith::cuda {

/// Enqueues the kernel cooperatively, so that all blocks are on the device at once: at most
/// launch_scope::blocks() of them. `shared_bytes` is the dynamic part, which a kernel must have
/// been allowed where it is above 48 KiB. Throws device_error where the device can't hold the
/// blocks.
template <class... Parameters, class... Arguments>
void launch_together(const launch_scope& launch, void (*kernel)(Parameters...), unsigned blocks,
                     unsigned threads, std::size_t shared_bytes, Arguments&&... arguments) {
    cudaLaunchAttribute cooperative{};
    cooperative.id = cudaLaunchAttributeCooperative;
    cooperative.val.cooperative = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(threads);
    config.dynamicSmemBytes = shared_bytes;
    config.stream = launch.stream();
    config.attrs = &cooperative;
    config.numAttrs = 1;
    KRYLITH_CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...));
}

} // namespace krylith::cuda
