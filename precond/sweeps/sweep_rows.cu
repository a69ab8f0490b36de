#include <krylith/device/cuda/launch_over.cuh>
#include <krylith/precond/sweeps/sweep_rows.hpp>
#include <krylith/sparse/epilogue/launch_rows.cuh>

namespace krylith::cuda {

namespace {

/// `Lanes` threads have a row.
template <class T, int Lanes>
__global__ void __launch_bounds__(block_threads)
    sweep_kernel(const __grid_constant__ compact_context parameter,
                 const __grid_constant__ spmv_operands<T> a,
                 const __grid_constant__ detail::colour_rows_view<T> m) {
    __shared__ context_state state;
    if (!kernel_prologue(parameter, state)) return;
    row_epilogue<T, 0, false> results(state.context, a);
    results.before_reading(true);
    results.before_writing();
    constexpr int rows_of_block = block_threads / Lanes;
    const int lane = static_cast<int>(threadIdx.x) % Lanes;
    for (std::int64_t first = std::int64_t{blockIdx.x} * rows_of_block; first < m.count;
         first += std::int64_t{gridDim.x} * rows_of_block) {
        const std::int64_t i = first + threadIdx.x / Lanes;
        const bool there = i < m.count;
        const std::int64_t end = there ? m.offsets[i + 1] : 0;
        T sum = 0;
        for (std::int64_t k = there ? m.offsets[i] + lane : 0; k < end; k += Lanes)
            sum += m.values[k] * a.x[m.columns[k]];
        sum = warp_sum<Lanes>(sum);
        if (there && lane == 0) a.y[m.rows[i]] += sum;
    }
    results.leave();
}

template <class T, int Lanes>
void launch_sweep(device& device, const detail::colour_rows_view<T>& rows,
                  const spmv_arguments<T>& a) {
    constexpr int rows_of_block = block_threads / Lanes;
    launch_blocks(device, (rows.count + rows_of_block - 1) / rows_of_block, sweep_kernel<T, Lanes>,
                  compact(a.common), a, rows);
}

} // namespace

template <class T>
void sweep_rows(device& device, const detail::colour_rows_view<T>& rows,
                const spmv_arguments<T>& a) {
    if (rows.mean <= 8) return launch_sweep<T, 1>(device, rows, a);
    if (rows.mean <= 48) return launch_sweep<T, 8>(device, rows, a);
    launch_sweep<T, 32>(device, rows, a);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void sweep_rows(device&, const detail::colour_rows_view<T>&, const spmv_arguments<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
