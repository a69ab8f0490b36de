#include <krylith/spmv/foreign_product.cuh>

namespace krylith::cuda {

namespace {

template <class T, int Dots>
__global__ void __launch_bounds__(block_threads)
    after_product_kernel(const __grid_constant__ spmv_arguments<T> a, std::int64_t rows) {
    __shared__ frame_state state;
    if (!begin(a.common, state)) return;
    allow_next_result(a);
    wait_for_receivers(a);
    double dots[Dots == 0 ? 1 : Dots] = {};
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * block_threads;
    for (std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
         row < rows; row += step) {
        const T y = a.y[row];
        if (a.push.to != 0)
            for (int r = 0; r < a.common.mail.ranks; ++r)
                if ((a.push.to >> r & 1) != 0) a.push.copies[r][row] = y;
#pragma unroll
        for (int d = 0; d < Dots; ++d) {
            const T other = a.dot_with[d] != nullptr ? a.dot_with[d][row] : y;
            dots[d] += static_cast<double>(y) * static_cast<double>(other);
        }
    }
    finish<Dots>(a, dots);
}

} // namespace

template <class T>
void after_product(device& where, const spmv_arguments<T>& a, std::int64_t rows) {
    const bool tells = a.acknowledge.to != 0 || a.push.to != 0;
    if (a.reduce.count == 0 && !tells) return;
    spmv_arguments<T> rest = a;
    rest.common = frame_after(a.common);
    const launch_scope launch(where);
    dispatch_dots(a, [&](auto dots) {
        const auto kernel = after_product_kernel<T, dots()>;
        const unsigned blocks =
            launch.blocks(kernel, block_threads, (rows + block_threads - 1) / block_threads);
        kernel<<<blocks, block_threads, 0, launch.stream()>>>(rest, rows);
    });
    launch.check_launch();
}

template void after_product(device&, const spmv_arguments<double>&, std::int64_t);
template void after_product(device&, const spmv_arguments<float>&, std::int64_t);

} // namespace krylith::cuda
