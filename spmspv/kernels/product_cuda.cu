// The eight products on CUDA for the library's semirings, and the scratch memory that they take.
#include <krylith/device/cuda/cuda_check.cuh>
#include <krylith/spmspv/kernels/column_scratch.hpp>
#include <krylith/spmspv/kernels/multiply_cuda.cuh>

namespace krylith::cuda {

template <class T>
std::size_t kernel_scratch_bytes(const device& device, spmspv::kernel k, std::int64_t entries,
                                 std::int64_t frontier_nonzeros) {
    if (direction_of(k) != spmspv::direction::push) return 0;
    const current_device current(device.ordinal()); // sorting asks the current device what it needs
    return column_scratch<T>::in(nullptr, k, entries, frontier_nonzeros < 0 ? 0 : frontier_nonzeros)
        .bytes;
}

template std::size_t kernel_scratch_bytes<std::int32_t>(const device&, spmspv::kernel, std::int64_t,
                                                        std::int64_t);
#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::size_t kernel_scratch_bytes<T>(const device&, spmspv::kernel, std::int64_t,      \
                                                 std::int64_t);
#include <krylith/device/language/instantiate.inc>

#define KRYLITH_INSTANTIATE(S, M)                                                                  \
    template void multiply(device&, spmspv::kernel, const spmspv::product_arguments<S, M>&);
KRYLITH_FOR_PRODUCTS(KRYLITH_INSTANTIATE)
#undef KRYLITH_INSTANTIATE

} // namespace krylith::cuda
