#include <krylith/spmv/nonzero_split/summed_rows.hpp>

#include <krylith/device/cuda/launch_over.cuh>
#include <krylith/sparse/epilogue/row_signals.cuh>

namespace krylith::cuda {

namespace {

template <class T>
__global__ void __launch_bounds__(block_threads)
    partial_sums_kernel(const __grid_constant__ compact_context parameter,
                        const __grid_constant__ spmv_operands<T> a) {
    __shared__ context_state state;
    if (!kernel_prologue(parameter, state)) return;
    const compact_context& context = state.context;
    wait_for(context, a.partials.arrived);
    const auto step = static_cast<std::int32_t>(gridDim.x) * block_threads;
    for (auto m = static_cast<std::int32_t>(blockIdx.x * block_threads + threadIdx.x);
         m < a.partials.count; m += step)
        a.y[a.partials.rows[m]] += a.alpha * a.partials.sum(m);
    if (!last_block(context.all_reduce.signals)) return;
    if (threadIdx.x == 0) *context.all_reduce.signals = 0;
    tell_peers<true>(a);
}

} // namespace

template <class T>
void add_partial_sums(device& device, const spmv_arguments<T>& a) {
    launch_blocks(device, (a.partials.count + block_threads - 1) / block_threads,
                  partial_sums_kernel<T>, compact(a.common), a);
}

#define KRYLITH_INSTANTIATE(T) template void add_partial_sums(device&, const spmv_arguments<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
