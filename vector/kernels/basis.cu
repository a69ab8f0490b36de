// Products with a basis of several vectors: reduce <- V^T w, and w -= V h.

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/language/instances.hpp>
#include <krylith/vector/execution/kernel_context_cuda.cuh>
#include <krylith/vector/kernels/kernels.hpp>

namespace krylith::cuda {

namespace {

/// The number of vectors whose sums a thread keeps in registers: w is read count / at_once times.
inline constexpr int dots_at_once = 8;

template <class T>
__global__ void __launch_bounds__(block_threads)
    multi_dot_kernel(const __grid_constant__ compact_context parameter,
                     const __grid_constant__ basis_operands<T> a) {
    __shared__ context_state state;
    const compact_context& context = state.context; // complete after the prologue
    __shared__ double warp_sums[block_warps];
    if (!kernel_prologue(parameter, state)) return;
    const int values = a.count + (a.norm ? 1 : 0);
    const std::int64_t start =
        a.first_owned + static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * block_threads;
    for (int base = 0; base < values; base += dots_at_once) {
        const T* from[dots_at_once];
#pragma unroll
        for (int j = 0; j < dots_at_once; ++j)
            from[j] = base + j < a.count ? a.basis[base + j] : a.w; // the last: w itself
        double sum[dots_at_once] = {};
        for (std::int64_t i = start; i < a.last_owned; i += step) {
            const double w = static_cast<double>(a.w[i]);
#pragma unroll
            for (int j = 0; j < dots_at_once; ++j)
                if (base + j < values) sum[j] += static_cast<double>(from[j][i]) * w;
        }
#pragma unroll
        for (int j = 0; j < dots_at_once; ++j) {
            if (base + j >= values) break;
            const double total = block_sum(sum[j], warp_sums);
            if (threadIdx.x == 0)
                a.reduce.partials[static_cast<std::int64_t>(base + j) * context.partial_stride +
                                  blockIdx.x] = total;
        }
    }
    if (last_block(context.all_reduce.signals)) post_batch(context, a.reduce);
}

template <class T>
__global__ void __launch_bounds__(block_threads)
    multi_axpy_kernel(const __grid_constant__ compact_context parameter,
                      const __grid_constant__ basis_operands<T> a) {
    __shared__ context_state state;
    const compact_context& context = state.context; // complete after the prologue
    extern __shared__ double h[];
    const bool arriving = parameter.batch > 0 && parameter.batch_array == a.first;
    if (!kernel_prologue(parameter, state, arriving ? h : nullptr)) return;
    if (!arriving) {
        for (int j = static_cast<int>(threadIdx.x); j < a.count; j += block_threads)
            h[j] = context.array[a.first + j];
        __syncthreads();
    }
    double norm[1] = {0};
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * block_threads;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
         i < a.size; i += step) {
        double w = static_cast<double>(a.w[i]);
#pragma unroll 8
        for (int j = 0; j < a.count; ++j) w -= h[j] * static_cast<double>(a.basis[j][i]);
        const T rounded = static_cast<T>(w);
        a.w[i] = rounded;
        if (i >= a.first_owned && i < a.last_owned)
            norm[0] += static_cast<double>(rounded) * static_cast<double>(rounded);
    }
    if (a.norm) reduce_and_post(context, a.reduce, norm);
}

} // namespace

template <class T>
void multi_dot(device& device, const basis_arguments<T>& a) {
    const launch_scope launch(device);
    const std::int64_t owned = a.last_owned - a.first_owned;
    const unsigned blocks = launch.blocks(multi_dot_kernel<T>, block_threads,
                                          (owned + block_threads - 1) / block_threads);
    multi_dot_kernel<<<blocks, block_threads, 0, launch.stream()>>>(compact(a.common), a);
    launch.check_launch();
}

template <class T>
void multi_axpy(device& device, const basis_arguments<T>& a) {
    const launch_scope launch(device);
    // The batch that is arriving may hold more values than are used: the norm beside them.
    const std::size_t values =
        static_cast<std::size_t>(a.common.batch > a.count ? a.common.batch : a.count);
    const std::size_t bytes = (values + values % 2) * sizeof(double); // they are read in pairs
    const unsigned blocks = launch.blocks(multi_axpy_kernel<T>, block_threads,
                                          (a.size + block_threads - 1) / block_threads, bytes);
    multi_axpy_kernel<<<blocks, block_threads, bytes, launch.stream()>>>(compact(a.common), a);
    launch.check_launch();
}

#define KRYLITH_INSTANTIATE(T) template struct instances<multi_dot<T>, multi_axpy<T>>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
