#include <krylith/spmspv/kernels/column_products.cuh>

namespace krylith::cuda {

template void
multiply_by_columns<spmspv::or_and<double>>(device&, spmspv::kernel,
                                            const plain_arguments<spmspv::or_and<double>>&);
template void
multiply_by_columns<spmspv::or_and<float>>(device&, spmspv::kernel,
                                           const plain_arguments<spmspv::or_and<float>>&);

} // namespace krylith::cuda
