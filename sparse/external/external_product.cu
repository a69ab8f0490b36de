#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/sparse/epilogue/row_kernel.cuh>
#include <krylith/sparse/external/external_product.hpp>

namespace krylith::cuda {

namespace {

template <class T, int Dots>
__global__ void __launch_bounds__(block_threads)
    after_product_kernel(const __grid_constant__ compact_context parameter,
                         const __grid_constant__ spmv_operands<T> a, std::int64_t rows,
                         const T* product) {
    __shared__ context_state state;
    const compact_context& context = state.context; // complete after the prologue
    if (!kernel_prologue(parameter, state)) return;
    give_result_credit(context, a);
    wait_for_receivers(context, a);
    if (a.partials.arrived.from != 0) wait_for_ghosts<true>(context, a);
    double dots[Dots == 0 ? 1 : Dots] = {};
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * block_threads;
    for (std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
         row < rows; row += step) {
        if (product != a.y) {
            write_row<Dots, true>(context, a, row, product[row], dots);
        } else {
            const T y = a.y[row];
            pass_on<Dots>(context, a, row, y, dots);
        }
    }
    kernel_epilogue<Dots, true>(context, a, dots);
}

} // namespace

template <class T>
void after_product(device& device, const spmv_arguments<T>& a, std::int64_t rows,
                   const T* product) {
    const bool tells = (a.credit.to | a.put.to | a.partials.arrived.from) != 0;
    if (a.reduce.count == 0 && !tells && product == a.y) return;
    spmv_arguments<T> rest = a;
    rest.common = context_after(a.common);
    const launch_scope launch(device);
    dispatch_dots(a, [&](auto dots) {
        const auto kernel = after_product_kernel<T, dots()>;
        const unsigned blocks =
            launch.blocks(kernel, block_threads, (rows + block_threads - 1) / block_threads);
        kernel<<<blocks, block_threads, 0, launch.stream()>>>(compact(rest.common), rest, rows,
                                                              product);
    });
    launch.check_launch();
}

template void after_product(device&, const spmv_arguments<double>&, std::int64_t, const double*);
template void after_product(device&, const spmv_arguments<float>&, std::int64_t, const float*);

} // namespace krylith::cuda
