#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/cuda/warp.cuh>
#include <krylith/precond/diagonal/diagonal_inverse.hpp>

namespace krylith::cuda {

namespace {

constexpr int threads = 256;
using word = unsigned long long;
static_assert(sizeof(word) == sizeof(std::uint64_t));

template <class T>
__global__ void __launch_bounds__(threads)
    invert_kernel(T* d, std::int64_t count, inversion_report* report) {
    const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
    T largest = 0;
    for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
         i += stride) {
        const T inverse = T(1) / d[i];
        if (isfinite(d[i]) && isfinite(inverse)) {
            d[i] = inverse;
            largest = max(largest, abs(inverse));
        } else {
            atomicMax(reinterpret_cast<word*>(&report->bad), ~static_cast<word>(i));
        }
    }
    largest = warp_reduce(largest, [](T own, T other) { return max(own, other); });
    if (threadIdx.x % 32 == 0 && largest > T(0))
        atomicMax(reinterpret_cast<word*>(&report->exponent),
                  static_cast<word>(ilogb(largest) + inversion_report::exponent_bias));
}

} // namespace

template <class T>
void invert_diagonal(device& device, T* d, std::int64_t count, inversion_report* report) {
    const launch_scope launch(device);
    const auto kernel = invert_kernel<T>;
    kernel<<<launch.blocks(kernel, threads, (count + threads - 1) / threads), threads, 0,
             launch.stream()>>>(d, count, report);
    launch.check_launch();
}

template void invert_diagonal(device&, double*, std::int64_t, inversion_report*);
template void invert_diagonal(device&, float*, std::int64_t, inversion_report*);

} // namespace krylith::cuda
