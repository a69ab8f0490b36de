#include <krylith/spmspv/kernels/row_products.cuh>

namespace krylith::cuda {

template void
multiply_by_rows<spmspv::plus_times<double>>(device&, spmspv::kernel,
                                             const plain_arguments<spmspv::plus_times<double>>&);
template void
multiply_by_rows<spmspv::plus_times<float>>(device&, spmspv::kernel,
                                            const plain_arguments<spmspv::plus_times<float>>&);

} // namespace krylith::cuda
