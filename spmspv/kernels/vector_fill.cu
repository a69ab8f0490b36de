#include <krylith/spmspv/kernels/vector_fill.hpp>

#include <krylith/device/cuda/launch_over.cuh>
#include <krylith/vector/scalar/kernel_context_cuda.cuh>

namespace krylith::cuda {

namespace {

__global__ void __launch_bounds__(block_threads)
    shift_kernel(const std::int32_t* from, std::int32_t* to, std::int64_t count,
                 std::int32_t shift) {
    const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
    for (std::int64_t k = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; k < count;
         k += stride)
        to[k] = from[k] + shift;
}

template <class T>
__global__ void __launch_bounds__(block_threads)
    spread_kernel(const spmspv::vector_arrays<T> v, T present) {
    const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
    for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < v.size;
         i += stride)
        v.dense[i] = (v.bits[i / 32] >> (i % 32) & 1) != 0 ? present : v.absent;
}

template <class T>
__global__ void __launch_bounds__(block_threads) fill_kernel(T* to, std::int64_t count, T value) {
    const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
    for (std::int64_t k = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; k < count;
         k += stride)
        to[k] = value;
}

} // namespace

void shift_indices(device& device, const std::int32_t* from, std::int32_t* to, std::int64_t count,
                   std::int32_t shift) {
    launch_over(device, count, shift_kernel, from, to, count, shift);
}

template <class T>
void spread_bits(device& device, const spmspv::vector_arrays<T>& v, T present) {
    launch_over(device, v.size, spread_kernel<T>, v, present);
}

template <class T>
void fill(device& device, T* to, std::int64_t count, T value) {
    launch_over(device, count, fill_kernel<T>, to, count, value);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void spread_bits(device&, const spmspv::vector_arrays<T>&, T);                        \
    template void fill(device&, T*, std::int64_t, T);
KRYLITH_INSTANTIATE(std::int32_t)
#include <krylith/device/language/instantiate.inc>

template void fill(device&, std::uint32_t*, std::int64_t, std::uint32_t);

} // namespace krylith::cuda
