// CG for several systems with one matrix. A thread has one or two neighbouring columns of a row, so
// that the lanes of a row read each nonzero at once and k entries of x side by side. The grid's
// stride is a multiple of the lanes of a row: a thread keeps its columns, and their sums, to the
// end.

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/solvers/multi_cg/column_entries.cuh>
#include <krylith/solvers/multi_cg/column_kernels.hpp>
#include <krylith/vector/scalar/kernel_context_cuda.cuh>
#include <krylith/vector/scalar/large_batch.cuh>

namespace krylith::cuda {

namespace {

[[nodiscard]] __device__ inline std::int64_t first_item() {
    return static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
}
[[nodiscard]] __device__ inline std::int64_t item_step() {
    return static_cast<std::int64_t>(gridDim.x) * block_threads;
}
/// Ends a kernel that sums `Sets` values a column: value set * K + j is that of column j.
template <int K, int Sets>
__device__ inline void post_columns(const compact_context& context, const reduction& out,
                                    double (&sums)[Sets * column_width<K>]) {
    __shared__ double warp_sums[block_warps][Sets * K];
    store_column_sums<K, Sets>(sums, warp_sums[threadIdx.x / 32]);
    __syncthreads();
    const int value = static_cast<int>(threadIdx.x);
    if (value < Sets * K) {
        double sum = 0;
#pragma unroll
        for (int w = 0; w < block_warps; ++w) sum += warp_sums[w][value];
        out.partials[static_cast<std::int64_t>(value) * context.partial_stride + blockIdx.x] = sum;
        __threadfence(); // last_block orders the stores of thread 0 alone
    }
    if (last_block(context.all_reduce.signals)) post_large_batch(context, out);
}

template <class T, int K>
[[nodiscard]] __device__ inline column_entries<T, K> row_product(const column_operands<T>& a,
                                                                 const T* x, std::int64_t row) {
    column_entries<T, K> sum{};
    const int lane = row_lane<K>();
    const std::int64_t end = a.offsets[row + 1];
#pragma unroll 4
    for (std::int64_t at = a.offsets[row]; at < end; ++at) {
        const T value = a.values[at];
        const auto e =
            load_entries<T, K>(x, static_cast<std::int64_t>(a.indices[at]) * row_lanes<K> + lane);
#pragma unroll
        for (int c = 0; c < column_width<K>; ++c) sum.at[c] += value * e.at[c];
    }
    return sum;
}

template <class T, int K, bool Preconditioned>
__global__ void __launch_bounds__(block_threads)
    start_kernel(const __grid_constant__ compact_context parameter,
                 const __grid_constant__ column_operands<T> a, bool from_x) {
    __shared__ context_state state;
    const compact_context& context = state.context; // complete after the prologue
    if (!kernel_prologue(parameter, state)) return;
    constexpr int sets = Preconditioned ? 2 : 1;
    double sums[sets * column_width<K>] = {};
    for (std::int64_t item = first_item(); item < a.rows * row_lanes<K>; item += item_step()) {
        const std::int64_t row = item / row_lanes<K>;
        column_entries<T, K> r = load_entries<T, K>(a.b, item);
        column_entries<T, K> z{};
        if (from_x) z = row_product<T, K>(a, a.x, row);
        const T d = Preconditioned ? a.inverse_diagonal[row] : T(1);
#pragma unroll
        for (int c = 0; c < column_width<K>; ++c) {
            r.at[c] -= z.at[c];
            z.at[c] = Preconditioned ? d * r.at[c] : r.at[c];
            add_residual<Preconditioned, K>(sums, c, r.at[c], z.at[c]);
        }
        store_entries<T, K>(a.r, item, r);
        store_entries<T, K>(a.p, item, z);
    }
    post_columns<K, sets>(context, a.reduce, sums);
}

template <class T, int K>
__global__ void __launch_bounds__(block_threads)
    multiply_kernel(const __grid_constant__ compact_context parameter,
                    const __grid_constant__ column_operands<T> a) {
    __shared__ context_state state;
    const compact_context& context = state.context; // complete after the prologue
    if (!kernel_prologue(parameter, state)) return;
    double sums[column_width<K>] = {};
    for (std::int64_t item = first_item(); item < a.rows * row_lanes<K>; item += item_step()) {
        const auto q = row_product<T, K>(a, a.p, item / row_lanes<K>);
        const auto p = load_entries<T, K>(a.p, item);
        store_entries<T, K>(a.q, item, q);
#pragma unroll
        for (int c = 0; c < column_width<K>; ++c)
            sums[c] += static_cast<double>(p.at[c]) * static_cast<double>(q.at[c]);
    }
    post_columns<K, 1>(context, a.reduce, sums);
}

template <class T, int K, bool Preconditioned>
__global__ void __launch_bounds__(block_threads)
    subtract_kernel(const __grid_constant__ compact_context parameter,
                    const __grid_constant__ column_operands<T> a) {
    __shared__ context_state state;
    const compact_context& context = state.context; // complete after the prologue
    __shared__ alignas(16) double pq[2 * max_columns];
    if (!kernel_prologue(parameter, state, pq)) return;
    constexpr int sets = Preconditioned ? 2 : 1;
    const column_places at{K};
    T alpha[column_width<K>];
#pragma unroll
    for (int c = 0; c < column_width<K>; ++c) {
        const int j = first_column<K>() + c;
        alpha[c] = context.array[at.state() + j] == 0.0 && pq[j] > 0.0
                       ? static_cast<T>(context.array[at.rho() + j] / pq[j])
                       : T(0);
    }
    double sums[sets * column_width<K>] = {};
    for (std::int64_t item = first_item(); item < a.rows * row_lanes<K>; item += item_step()) {
        auto r = load_entries<T, K>(a.r, item);
        const auto q = load_entries<T, K>(a.q, item);
        const T d = Preconditioned ? a.inverse_diagonal[item / row_lanes<K>] : T(1);
#pragma unroll
        for (int c = 0; c < column_width<K>; ++c) {
            if (alpha[c] != T(0)) r.at[c] -= alpha[c] * q.at[c];
            add_residual<Preconditioned, K>(sums, c, r.at[c], d * r.at[c]);
        }
        store_entries<T, K>(a.r, item, r);
    }
    post_columns<K, sets>(context, a.reduce, sums);
}

__global__ void __launch_bounds__(block_threads)
    test_kernel(const __grid_constant__ compact_context parameter, int k, bool preconditioned,
                reduction reduce) {
    __shared__ context_state state;
    const compact_context& context = state.context; // complete after the prologue
    __shared__ alignas(16) double sums[2 * max_columns];
    if (!kernel_prologue(parameter, state, sums)) return;
    const int j = static_cast<int>(threadIdx.x);
    const bool goes_on = j < k && advance_column(context.array, sums, preconditioned, k, j);
    const double running[1] = {goes_on ? 1.0 : 0.0};
    reduce_and_post(context, reduce, running);
}

template <class T, int K, bool Preconditioned>
__global__ void __launch_bounds__(block_threads)
    advance_kernel(const __grid_constant__ compact_context parameter,
                   const __grid_constant__ column_operands<T> a) {
    __shared__ context_state state;
    const compact_context& context = state.context; // complete after the prologue
    if (!kernel_prologue(parameter, state)) return;
    const column_places at{K};
    T alpha[column_width<K>];
    T beta[column_width<K>];
#pragma unroll
    for (int c = 0; c < column_width<K>; ++c) {
        alpha[c] = static_cast<T>(context.array[at.alpha() + first_column<K>() + c]);
        beta[c] = static_cast<T>(context.array[at.beta() + first_column<K>() + c]);
    }
    for (std::int64_t item = first_item(); item < a.rows * row_lanes<K>; item += item_step()) {
        auto x = load_entries<T, K>(a.x, item);
        auto p = load_entries<T, K>(a.p, item);
        const auto r = load_entries<T, K>(a.r, item);
        const T d = Preconditioned ? a.inverse_diagonal[item / row_lanes<K>] : T(1);
#pragma unroll
        for (int c = 0; c < column_width<K>; ++c) {
            if (alpha[c] != T(0)) x.at[c] += alpha[c] * p.at[c];
            const T z = d * r.at[c];
            p.at[c] = beta[c] != T(0) ? z + beta[c] * p.at[c] : z;
        }
        store_entries<T, K>(a.x, item, x);
        store_entries<T, K>(a.p, item, p);
    }
}

template <class T, class Kernel, class... More>
void launch(device& device, const column_arguments<T>& a, Kernel kernel, More... more) {
    const launch_scope scope(device);
    const std::int64_t items = a.rows * (a.columns > 1 ? a.columns / 2 : 1);
    const unsigned blocks =
        scope.blocks(kernel, block_threads, (items + block_threads - 1) / block_threads);
    const column_operands<T>& operands = a;
    kernel<<<blocks, block_threads, 0, scope.stream()>>>(compact(a.common), operands, more...);
    scope.check_launch();
}

} // namespace

template <class T>
void start_columns(device& device, const column_arguments<T>& a, column_start start) {
    const bool from_x = start == column_start::from_x;
    with_columns(a.columns, [&](auto k) {
        if (a.preconditioned)
            launch(device, a, start_kernel<T, decltype(k)::value, true>, from_x);
        else
            launch(device, a, start_kernel<T, decltype(k)::value, false>, from_x);
    });
}

template <class T>
void multiply_columns(device& device, const column_arguments<T>& a) {
    with_columns(a.columns,
                 [&](auto k) { launch(device, a, multiply_kernel<T, decltype(k)::value>); });
}

template <class T>
void subtract_columns(device& device, const column_arguments<T>& a) {
    with_columns(a.columns, [&](auto k) {
        if (a.preconditioned)
            launch(device, a, subtract_kernel<T, decltype(k)::value, true>);
        else
            launch(device, a, subtract_kernel<T, decltype(k)::value, false>);
    });
}

template <class T>
void test_columns(device& device, const column_arguments<T>& a) {
    const launch_scope scope(device);
    test_kernel<<<1, block_threads, 0, scope.stream()>>>(compact(a.common), a.columns,
                                                         a.preconditioned, a.reduce);
    scope.check_launch();
}

template <class T>
void advance_columns(device& device, const column_arguments<T>& a) {
    with_columns(a.columns, [&](auto k) {
        if (a.preconditioned)
            launch(device, a, advance_kernel<T, decltype(k)::value, true>);
        else
            launch(device, a, advance_kernel<T, decltype(k)::value, false>);
    });
}

#define KRYLITH_COLUMN_KERNELS(T)                                                                  \
    template void start_columns(device&, const column_arguments<T>&, column_start);                \
    template void multiply_columns(device&, const column_arguments<T>&);                           \
    template void subtract_columns(device&, const column_arguments<T>&);                           \
    template void test_columns(device&, const column_arguments<T>&);                               \
    template void advance_columns(device&, const column_arguments<T>&)
KRYLITH_COLUMN_KERNELS(double);
KRYLITH_COLUMN_KERNELS(float);
#undef KRYLITH_COLUMN_KERNELS

} // namespace krylith::cuda
