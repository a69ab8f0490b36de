// CG for several systems with one matrix. A thread has one or two neighbouring columns of a row, so
// that the lanes of a row read each nonzero at once and k entries of x side by side. The grid's
// stride is a multiple of the lanes of a row: a thread keeps its columns, and their sums, to the
// end.

#include <string>
#include <type_traits>

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/error.hpp>
#include <krylith/solvers/multi_cg/column_kernels.hpp>
#include <krylith/vector/scalar/kernel_context_cuda.cuh>
#include <krylith/vector/scalar/large_batch.cuh>

namespace krylith::cuda {

namespace {

/// Columns of one thread: two entries of double are one load of 16 bytes.
template <int K>
inline constexpr int width = K > 1 ? 2 : 1;
/// Threads of one row.
template <int K>
inline constexpr int lanes = K / width<K>;

template <class T, int Width>
struct alignas(sizeof(T) * Width) entries {
    T at[Width];
};

template <class T, int K>
[[nodiscard]] __device__ inline entries<T, width<K>> load(const T* v, std::int64_t item) {
    return reinterpret_cast<const entries<T, width<K>>*>(v)[item];
}

template <class T, int K>
__device__ inline void store(T* v, std::int64_t item, const entries<T, width<K>>& e) {
    reinterpret_cast<entries<T, width<K>>*>(v)[item] = e;
}

[[nodiscard]] __device__ inline std::int64_t first_item() {
    return static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
}
[[nodiscard]] __device__ inline std::int64_t item_step() {
    return static_cast<std::int64_t>(gridDim.x) * block_threads;
}
/// The first of the columns of this thread.
template <int K>
[[nodiscard]] __device__ inline int first_column() {
    return static_cast<int>(threadIdx.x) % lanes<K> * width<K>;
}

/// Ends a kernel that sums `Sets` values a column: value set * K + j is that of column j.
template <int K, int Sets>
__device__ inline void post_columns(const compact_context& context, const reduction& out,
                                    double (&sums)[Sets * width<K>]) {
    __shared__ double warp_sums[block_warps][Sets * K];
    const int lane = static_cast<int>(threadIdx.x & 31);
#pragma unroll
    for (int s = 0; s < Sets; ++s)
#pragma unroll
        for (int c = 0; c < width<K>; ++c) {
            double sum = sums[s * width<K> + c];
#pragma unroll
            for (int distance = 16; distance >= lanes<K>; distance /= 2)
                sum += __shfl_xor_sync(0xffffffffu, sum, distance);
            if (lane < lanes<K>) warp_sums[threadIdx.x / 32][s * K + lane * width<K> + c] = sum;
        }
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
[[nodiscard]] __device__ inline entries<T, width<K>> row_product(const column_operands<T>& a,
                                                                 const T* x, std::int64_t row) {
    entries<T, width<K>> sum{};
    const int lane = static_cast<int>(threadIdx.x) % lanes<K>;
    const std::int64_t end = a.offsets[row + 1];
#pragma unroll 4
    for (std::int64_t at = a.offsets[row]; at < end; ++at) {
        const T value = a.values[at];
        const auto e = load<T, K>(x, static_cast<std::int64_t>(a.indices[at]) * lanes<K> + lane);
#pragma unroll
        for (int c = 0; c < width<K>; ++c) sum.at[c] += value * e.at[c];
    }
    return sum;
}

template <bool Preconditioned, int Width, class T>
__device__ inline void add_residual(double* sums, int c, T r, T z) {
    sums[c] += static_cast<double>(r) * static_cast<double>(r);
    if constexpr (Preconditioned)
        sums[Width + c] += static_cast<double>(r) * static_cast<double>(z);
}

template <class T, int K, bool Preconditioned>
__global__ void __launch_bounds__(block_threads)
    start_kernel(const __grid_constant__ compact_context parameter,
                 const __grid_constant__ column_operands<T> a, bool from_x) {
    __shared__ context_state state;
    const compact_context& context = state.context; // complete after the prologue
    if (!kernel_prologue(parameter, state)) return;
    constexpr int sets = Preconditioned ? 2 : 1;
    double sums[sets * width<K>] = {};
    for (std::int64_t item = first_item(); item < a.rows * lanes<K>; item += item_step()) {
        const std::int64_t row = item / lanes<K>;
        entries<T, width<K>> r = load<T, K>(a.b, item);
        entries<T, width<K>> z{};
        if (from_x) z = row_product<T, K>(a, a.x, row);
        const T d = Preconditioned ? a.inverse_diagonal[row] : T(1);
#pragma unroll
        for (int c = 0; c < width<K>; ++c) {
            r.at[c] -= z.at[c];
            z.at[c] = Preconditioned ? d * r.at[c] : r.at[c];
            add_residual<Preconditioned, width<K>>(sums, c, r.at[c], z.at[c]);
        }
        store<T, K>(a.r, item, r);
        store<T, K>(a.p, item, z);
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
    double sums[width<K>] = {};
    for (std::int64_t item = first_item(); item < a.rows * lanes<K>; item += item_step()) {
        const auto q = row_product<T, K>(a, a.p, item / lanes<K>);
        const auto p = load<T, K>(a.p, item);
        store<T, K>(a.q, item, q);
#pragma unroll
        for (int c = 0; c < width<K>; ++c)
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
    T alpha[width<K>];
#pragma unroll
    for (int c = 0; c < width<K>; ++c) {
        const int j = first_column<K>() + c;
        alpha[c] = context.array[at.state() + j] == 0.0 && pq[j] > 0.0
                       ? static_cast<T>(context.array[at.rho() + j] / pq[j])
                       : T(0);
    }
    double sums[sets * width<K>] = {};
    for (std::int64_t item = first_item(); item < a.rows * lanes<K>; item += item_step()) {
        auto r = load<T, K>(a.r, item);
        const auto q = load<T, K>(a.q, item);
        const T d = Preconditioned ? a.inverse_diagonal[item / lanes<K>] : T(1);
#pragma unroll
        for (int c = 0; c < width<K>; ++c) {
            if (alpha[c] != T(0)) r.at[c] -= alpha[c] * q.at[c];
            add_residual<Preconditioned, width<K>>(sums, c, r.at[c], d * r.at[c]);
        }
        store<T, K>(a.r, item, r);
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
    T alpha[width<K>];
    T beta[width<K>];
#pragma unroll
    for (int c = 0; c < width<K>; ++c) {
        alpha[c] = static_cast<T>(context.array[at.alpha() + first_column<K>() + c]);
        beta[c] = static_cast<T>(context.array[at.beta() + first_column<K>() + c]);
    }
    for (std::int64_t item = first_item(); item < a.rows * lanes<K>; item += item_step()) {
        auto x = load<T, K>(a.x, item);
        auto p = load<T, K>(a.p, item);
        const auto r = load<T, K>(a.r, item);
        const T d = Preconditioned ? a.inverse_diagonal[item / lanes<K>] : T(1);
#pragma unroll
        for (int c = 0; c < width<K>; ++c) {
            if (alpha[c] != T(0)) x.at[c] += alpha[c] * p.at[c];
            const T z = d * r.at[c];
            p.at[c] = beta[c] != T(0) ? z + beta[c] * p.at[c] : z;
        }
        store<T, K>(a.x, item, x);
        store<T, K>(a.p, item, p);
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

/// Calls body with the number of columns as a constant.
template <class Body>
void with_columns(int columns, const Body& body) {
    switch (columns) {
    case 1: return body(std::integral_constant<int, 1>());
    case 2: return body(std::integral_constant<int, 2>());
    case 4: return body(std::integral_constant<int, 4>());
    case 8: return body(std::integral_constant<int, 8>());
    case 16: return body(std::integral_constant<int, 16>());
    default:
        throw usage_error("kernels for several columns take 1, 2, 4, 8 or 16, not " +
                          std::to_string(columns));
    }
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
