#include <krylith/spmspv/kernels/column_products.cuh>

namespace krylith::cuda {

template void
multiply_by_columns<spmspv::min_plus<double>>(device&, spmspv::kernel,
                                              const plain_arguments<spmspv::min_plus<double>>&);
template void
multiply_by_columns<spmspv::min_plus<float>>(device&, spmspv::kernel,
                                             const plain_arguments<spmspv::min_plus<float>>&);

} // namespace krylith::cuda
