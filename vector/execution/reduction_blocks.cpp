#include <krylith/vector/execution/reduction_blocks.hpp>

#include <algorithm>

#include <krylith/config.hpp>
#include <krylith/vector/execution/host_context.hpp>
#if KRYLITH_HAVE_CUDA
#include <krylith/device/cuda/cuda_runtime.hpp>
#endif

namespace krylith {

std::int64_t reduction_blocks(const device& device) {
#if KRYLITH_HAVE_CUDA
    // The number is at least that of the 768 places that kernel_context_cuda.cuh reads before it
    // knows how many are filled.
    if (device.kind() == backend::cuda)
        return std::max<std::int64_t>(1024, std::int64_t{8} * cuda::multiprocessors(device));
#endif
    (void)device;
    return host::reduction_chunks;
}

} // namespace krylith
