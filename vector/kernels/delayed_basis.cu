// Kernels for V'[u w], and for u and w less their components in V: one pass over the basis each.

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/vector/execution/large_batch.cuh>
#include <krylith/vector/ghosts/ghost_put.cuh>
#include <krylith/vector/kernels/kernels.hpp>

namespace krylith::cuda {

namespace {

/// The number of vectors whose sums a thread keeps in registers: u and w are read count / at_once
/// times.
inline constexpr int delayed_at_once = 12;

template <class T>
__global__ void __launch_bounds__(block_threads, 2)
    delayed_dots_kernel(const __grid_constant__ compact_context parameter,
                        const __grid_constant__ delayed_operands<T> a) {
    __shared__ context_state state;
    const compact_context& context = state.context; // complete after the prologue
    __shared__ double warp_sums[2 * delayed_at_once + 1][block_warps];
    if (!kernel_prologue(parameter, state)) return;
    const std::int64_t start =
        a.first_owned + static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * block_threads;
    const T* const u = a.basis[a.count - 1];
    for (int base = 0; base < a.count; base += delayed_at_once) {
        const T* from[delayed_at_once];
#pragma unroll
        for (int j = 0; j < delayed_at_once; ++j)
            from[j] = base + j < a.count ? a.basis[base + j] : u;
        double sum[2 * delayed_at_once + 1] = {}; // of u, of w, w'w
        for (std::int64_t i = start; i < a.last_owned; i += step) {
            const double of_u = static_cast<double>(u[i]);
            const double of_w = static_cast<double>(a.w[i]);
#pragma unroll
            for (int j = 0; j < delayed_at_once; ++j) {
                if (base + j >= a.count) continue;
                const double v = static_cast<double>(from[j][i]);
                sum[j] += v * of_u;
                sum[delayed_at_once + j] += v * of_w;
            }
            sum[2 * delayed_at_once] += of_w * of_w;
        }
#pragma unroll
        for (int v = 0; v < 2 * delayed_at_once + 1; ++v) store_warp_sum(sum[v], warp_sums[v]);
        __syncthreads();
        const auto keep = [&](int v, int place) { // one thread for each value
            a.reduce
                .partials[static_cast<std::int64_t>(place) * context.partial_stride + blockIdx.x] =
                sum_of_warps(warp_sums[v]);
        };
        const auto v = static_cast<int>(threadIdx.x);
        if (v < delayed_at_once && base + v < a.count) keep(v, base + v);
        if (v >= delayed_at_once && v < 2 * delayed_at_once && base + v - delayed_at_once < a.count)
            keep(v, a.count + base + v - delayed_at_once);
        if (v == 2 * delayed_at_once && base == 0) keep(v, 2 * a.count);
        __syncthreads(); // read before they are written again
    }
    if (last_block(context.all_reduce.signals)) post_large_batch(context, a.reduce);
}

/// The number of entries of a tile that a thread has.
template <class T>
inline constexpr int thread_entries = tile_size<T> / block_threads;

template <class T>
__global__ void __launch_bounds__(block_threads, 4)
    delayed_update_kernel(const __grid_constant__ compact_context parameter,
                          const __grid_constant__ delayed_operands<T> a) {
    __shared__ context_state state;
    const compact_context& context = state.context; // complete after the prologue
    extern __shared__ double s[];
    const double* const t = s + a.count;
    const int before = a.count - 1;
    // An earlier kernel has left the coefficients in the array: nothing waits for them.
    const bool go = kernel_prologue(parameter, state, nullptr, [&] {
        for (int k = static_cast<int>(threadIdx.x); k <= 2 * a.count; k += block_threads)
            s[k] = parameter.array[a.first + k];
    });
    if (!go) return;
    if (a.sends) give_credit(a.put);
    const bool dense = a.sends && a.put.dense != 0;
    const bool listed = a.sends && !dense && a.put.tile_order != nullptr;
    if (dense) {
        await_credits(context, a.put);
        __syncthreads();
    }
    T* const u = a.basis[before];
    T* const next = a.basis[a.count];
    const auto tiles = static_cast<std::int32_t>((a.size + tile_size<T> - 1) / tile_size<T>);
    std::int32_t sent = 0;
    for (auto position = static_cast<std::int32_t>(blockIdx.x); position < tiles;
         position += static_cast<std::int32_t>(gridDim.x)) {
        const std::int32_t tile = listed ? a.put.tile_order[position] : position;
        const std::int64_t first = static_cast<std::int64_t>(tile) * tile_size<T> + threadIdx.x;
        std::int64_t at[thread_entries<T>];
        double of_u[thread_entries<T>];
        double of_w[thread_entries<T>];
#pragma unroll
        for (int e = 0; e < thread_entries<T>; ++e) {
            at[e] = first + e * block_threads;
            if (at[e] >= a.size) at[e] = a.size - 1; // this entry is read, but not written
            of_u[e] = static_cast<double>(u[at[e]]);
            of_w[e] = static_cast<double>(a.w[at[e]]);
        }
#pragma unroll 4
        for (int k = 0; k < before; ++k) {
            const T* const v = a.basis[k];
#pragma unroll
            for (int e = 0; e < thread_entries<T>; ++e) {
                const double value = static_cast<double>(v[at[e]]);
                of_u[e] -= s[k] * value;
                of_w[e] -= t[k] * value;
            }
        }
#pragma unroll
        for (int e = 0; e < thread_entries<T>; ++e) {
            if (first + e * block_threads >= a.size) continue;
            const T ended = static_cast<T>(s[before] * of_u[e]);
            u[at[e]] = ended;
            const auto candidate =
                static_cast<T>(t[a.count] * (of_w[e] - t[before] * static_cast<double>(ended)));
            next[at[e]] = candidate;
            if (dense) for_receivers(a.put, [&](T* ghosts) { ghosts[at[e]] = candidate; });
        }
        if (dense)
            ++sent;
        else if (listed && position < a.put.sending_tiles)
            send_tile(context, a.put, position, next, sent++ == 0);
    }
    if (a.sends) signal_put(a.put, sent);
}

} // namespace

template <class T>
void delayed_dots(device& device, const delayed_arguments<T>& a) {
    const launch_scope launch(device);
    const std::int64_t owned = a.last_owned - a.first_owned;
    const unsigned blocks = launch.blocks(delayed_dots_kernel<T>, block_threads,
                                          (owned + block_threads - 1) / block_threads);
    delayed_dots_kernel<<<blocks, block_threads, 0, launch.stream()>>>(compact(a.common), a);
    launch.check_launch();
}

template <class T>
void delayed_update(device& device, const delayed_arguments<T>& a) {
    const launch_scope launch(device);
    const auto values = 2 * static_cast<std::size_t>(a.count) + 1;
    const std::size_t bytes = values * sizeof(double);
    const unsigned blocks = launch.blocks(delayed_update_kernel<T>, block_threads,
                                          (a.size + tile_size<T> - 1) / tile_size<T>, bytes);
    delayed_update_kernel<<<blocks, block_threads, bytes, launch.stream()>>>(compact(a.common), a);
    launch.check_launch();
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void delayed_dots(device&, const delayed_arguments<T>&);                              \
    template void delayed_update(device&, const delayed_arguments<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
