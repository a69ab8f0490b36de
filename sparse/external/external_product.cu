#include <krylith/sparse/epilogue/launch_rows.cuh>
#include <krylith/sparse/external/external_product.hpp>

namespace krylith::cuda {

namespace {

template <class T, int Dots>
__global__ void __launch_bounds__(block_threads)
    after_product_kernel(const __grid_constant__ compact_context parameter,
                         const __grid_constant__ spmv_operands<T> a, std::int64_t rows,
                         const T* product) {
    __shared__ context_state state;
    if (!product_prologue<true>(parameter, state, a)) return;
    row_epilogue<T, Dots, true> results(state.context, a);
    results.before_reading(true);
    results.before_writing();
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * block_threads;
    for (std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
         row < rows; row += step) {
        if (product != a.y)
            results.row(row, product[row]);
        else
            results.written(row);
    }
    results.leave();
}

} // namespace

template <class T>
void after_product(device& device, const spmv_arguments<T>& a, std::int64_t rows,
                   const T* product) {
    const bool tells =
        (a.credit.senders | a.put.channel.receivers | a.early.count | a.partials.count) != 0;
    if (a.reduce.count == 0 && !tells && product == a.y) return;
    const spmv_arguments<T> rest = after_waiting(a);
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

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void after_product(device&, const spmv_arguments<T>&, std::int64_t, const T*);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
