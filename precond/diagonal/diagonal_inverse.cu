#include <krylith/device/cuda/launch_over.cuh>
#include <krylith/device/cuda/warp.cuh>
#include <krylith/precond/diagonal/diagonal_inverse.hpp>

namespace krylith::cuda {

namespace {

template <class T>
__global__ void __launch_bounds__(block_threads)
    invert_entry_kernel(T* d, std::int64_t count, inversion_report* report) {
    T largest = 0;
    for (std::int64_t i = first_item(); i < count; i += item_stride()) {
        const T inverse = T(1) / d[i];
        if (isfinite(d[i]) && isfinite(inverse)) {
            d[i] = inverse;
            largest = max(largest, abs(inverse));
        } else {
            atomicMax(reinterpret_cast<atomic_word*>(&report->bad), ~static_cast<atomic_word>(i));
        }
    }
    largest = warp_reduce(largest, [](T own, T other) { return max(own, other); });
    if (threadIdx.x % 32 == 0 && largest > T(0))
        atomicMax(reinterpret_cast<atomic_word*>(&report->exponent),
                  static_cast<atomic_word>(ilogb(largest) + inversion_report::exponent_bias));
}

} // namespace

template <class T>
void invert_diagonal(device& device, T* d, std::int64_t count, inversion_report* report) {
    launch_over(device, count, invert_entry_kernel<T>, d, count, report);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void invert_diagonal(device&, T*, std::int64_t, inversion_report*);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
