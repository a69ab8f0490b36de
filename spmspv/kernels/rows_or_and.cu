#include <krylith/spmspv/kernels/row_products.cuh>

namespace krylith::cuda {

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void multiply_by_rows<spmspv::or_and<T>>(device&, spmspv::kernel,                     \
                                                      const plain_arguments<spmspv::or_and<T>>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
