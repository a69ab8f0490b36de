#include <krylith/spmspv/kernels/column_products.cuh>

namespace krylith::cuda {

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void multiply_by_columns<spmspv::min_plus<T>>(                                        \
        device&, spmspv::kernel, const plain_arguments<spmspv::min_plus<T>>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
