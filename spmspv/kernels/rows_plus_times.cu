#include <krylith/spmspv/kernels/row_products.cuh>

namespace krylith::cuda {

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void multiply_by_rows<spmspv::plus_times<T>>(                                         \
        device&, spmspv::kernel, const plain_arguments<spmspv::plus_times<T>>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
