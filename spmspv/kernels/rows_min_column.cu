#include <krylith/spmspv/kernels/row_products.cuh>

namespace krylith::cuda {

template void multiply_by_rows<spmspv::min_column>(device&, spmspv::kernel,
                                                   const plain_arguments<spmspv::min_column>&);

} // namespace krylith::cuda
