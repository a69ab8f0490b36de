#include <krylith/spmspv/kernels/column_products.cuh>

namespace krylith::cuda {

template void multiply_by_columns<spmspv::plus_second<double>>(
    device&, spmspv::kernel, const plain_arguments<spmspv::plus_second<double>>&);
template void
multiply_by_columns<spmspv::plus_second<float>>(device&, spmspv::kernel,
                                                const plain_arguments<spmspv::plus_second<float>>&);

} // namespace krylith::cuda
