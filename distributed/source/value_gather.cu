#include <krylith/device/cuda/launch_over.cuh>
#include <krylith/distributed/source/value_gather.hpp>

namespace krylith::cuda {

namespace {

/// Gathers with a thread a nonzero: stores are coalesced, loads as far as the assembly's order is
/// near CSR.
template <class T>
__global__ void __launch_bounds__(block_threads)
    gather_kernel(const gather_arrays a, const T* from, T* to) {
    for (std::int64_t k = first_item(); k < a.nonzeros; k += item_stride()) {
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
    launch_over(device, arrays.nonzeros, gather_kernel<T>, arrays, from, to);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void gather_values(device&, const gather_arrays&, const T*, T*);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
