#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/spmv/source/value_gather.hpp>

namespace krylith::cuda {

namespace {

constexpr int threads = 256;

/// Gathers with a thread a nonzero: stores are coalesced, loads as far as the assembly's order is
/// near CSR.
template <class T>
__global__ void __launch_bounds__(threads)
    gather_kernel(const gather_arrays a, const T* from, T* to) {
    const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
    for (std::int64_t k = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; k < a.nonzeros;
         k += stride) {
        const std::int64_t begin = a.first != nullptr ? a.first[k] : k;
        const std::int64_t end = a.first != nullptr ? a.first[k + 1] : k + 1;
        T sum = from[a.order[begin]];
        for (std::int64_t j = begin + 1; j < end; ++j) sum += from[a.order[j]];
        to[k] = sum;
    }
}

} // namespace

template <class T>
void gather_values(device& device, const gather_arrays& arrays, const T* from, T* to) {
    const launch_scope launch(device);
    const auto kernel = gather_kernel<T>;
    kernel<<<launch.blocks(kernel, threads, (arrays.nonzeros + threads - 1) / threads), threads, 0,
             launch.stream()>>>(arrays, from, to);
    launch.check_launch();
}

template void gather_values(device&, const gather_arrays&, const double*, double*);
template void gather_values(device&, const gather_arrays&, const float*, float*);

} // namespace krylith::cuda
