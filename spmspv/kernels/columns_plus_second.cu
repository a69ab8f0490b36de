#include <krylith/spmspv/kernels/column_products.cuh>

namespace krylith::cuda {

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void multiply_by_columns<spmspv::plus_second<T>>(                                     \
        device&, spmspv::kernel, const plain_arguments<spmspv::plus_second<T>>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
