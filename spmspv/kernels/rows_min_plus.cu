#include <krylith/spmspv/kernels/row_products.cuh>

namespace krylith::cuda {

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void multiply_by_rows<spmspv::min_plus<T>>(                                           \
        device&, spmspv::kernel, const plain_arguments<spmspv::min_plus<T>>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
