#include <krylith/spmspv/kernels/column_products.cuh>

namespace krylith::cuda {

template void multiply_by_columns<spmspv::min_column>(device&, spmspv::kernel,
                                                      const plain_arguments<spmspv::min_column>&);

} // namespace krylith::cuda
