#include <krylith/spmspv/kernels/row_products.cuh>

namespace krylith::cuda {

template void
multiply_by_rows<spmspv::or_and<double>>(device&, spmspv::kernel,
                                         const plain_arguments<spmspv::or_and<double>>&);
template void
multiply_by_rows<spmspv::or_and<float>>(device&, spmspv::kernel,
                                        const plain_arguments<spmspv::or_and<float>>&);

} // namespace krylith::cuda
