#include <krylith/spmspv/kernels/column_products.cuh>

namespace krylith::cuda {

template void
multiply_by_columns<spmspv::plus_times<double>>(device&, spmspv::kernel,
                                                const plain_arguments<spmspv::plus_times<double>>&);
template void
multiply_by_columns<spmspv::plus_times<float>>(device&, spmspv::kernel,
                                               const plain_arguments<spmspv::plus_times<float>>&);

} // namespace krylith::cuda
