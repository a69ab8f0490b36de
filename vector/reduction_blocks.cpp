#include <krylith/config.hpp>
#include <krylith/vector/host_frame.hpp>
#include <krylith/vector/kernels.hpp>
#if KRYLITH_HAVE_CUDA
#include <krylith/device/cuda_runtime.hpp>
#endif

namespace krylith {

std::int64_t reduction_blocks(const device& where) {
#if KRYLITH_HAVE_CUDA
    if (where.kind() == backend::cuda) return std::int64_t{8} * cuda::multiprocessors(where);
#endif
    (void)where;
    return host::reduction_chunks;
}

} // namespace krylith
