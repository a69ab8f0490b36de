#include <krylith/device/cuda_device.cuh>
#include <krylith/precond/diagonal_inverse.hpp>

namespace krylith::cuda {

namespace {

constexpr int threads = 256;

template <class T>
__global__ void __launch_bounds__(threads)
    invert_kernel(T* d, std::int64_t count, unsigned long long* first_bad) {
    const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
    for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
         i += stride) {
        const T inverse = T(1) / d[i];
        if (isfinite(d[i]) && isfinite(inverse))
            d[i] = inverse;
        else
            atomicMin(first_bad, static_cast<unsigned long long>(i));
    }
}

} // namespace

template <class T>
void invert_diagonal(device& where, T* d, std::int64_t count, std::uint64_t* first_bad) {
    static_assert(sizeof(unsigned long long) == sizeof(std::uint64_t));
    const launch_scope launch(where);
    const auto kernel = invert_kernel<T>;
    kernel<<<launch.blocks(kernel, threads, (count + threads - 1) / threads), threads, 0,
             launch.stream()>>>(d, count, reinterpret_cast<unsigned long long*>(first_bad));
    launch.check_launch();
}

template void invert_diagonal(device&, double*, std::int64_t, std::uint64_t*);
template void invert_diagonal(device&, float*, std::int64_t, std::uint64_t*);

} // namespace krylith::cuda
