// Passes of joint loops on GPUs (solvers/joint/column_pass.hpp declares them). The lanes of a row
// read each nonzero at once and k entries of x side by side. The grid's stride is a multiple of the
// lanes of a row: a thread keeps its columns, and their sums, to the end. Included by .cu files
// only.
#pragma once

#include <tuple>

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/solvers/joint/column_pass.hpp>
#include <krylith/sparse/csr/column_entries.cuh>
#include <krylith/vector/execution/kernel_context_cuda.cuh>
#include <krylith/vector/execution/large_batch.cuh>

namespace krylith::cuda {

/// Ends a kernel that sums `Sets` values a column: value set * k + j is that of column j of k.
template <int Sets>
__device__ inline void post_columns(const compact_context& context, const reduction& out,
                                    const row_lanes& lanes,
                                    const double (&sums)[Sets * column_width]) {
    __shared__ double warp_sums[block_warps][Sets * max_columns];
    store_column_sums<Sets>(lanes, sums, warp_sums[threadIdx.x / 32]);
    __syncthreads();
    const int value = static_cast<int>(threadIdx.x);
    if (value < Sets * lanes.columns()) {
        double sum = 0;
#pragma unroll
        for (int w = 0; w < block_warps; ++w) sum += warp_sums[w][value];
        out.partials[static_cast<std::int64_t>(value) * context.partial_stride + blockIdx.x] = sum;
        __threadfence(); // last_block orders the stores of thread 0 alone
    }
    if (last_block(context.all_reduce.signals)) post_large_batch(context, out);
}

/// Where a kernel finds the sums of the pass before, which belong at `place` of the array: what its
/// prologue took in, `taken`, or in the array itself where a put of ghosts came between, whose
/// kernel took them in.
__device__ inline const double* arrived_sums(const compact_context& context, const double* taken,
                                             int place) {
    return context.batch > 0 ? taken : context.array + place;
}

template <class T, class Pass>
__global__ void __launch_bounds__(block_threads)
    pass_kernel(const __grid_constant__ compact_context parameter,
                const __grid_constant__ column_operands<T> a) {
    constexpr int width = column_width;
    const column_places at{a.columns};
    const row_lanes lanes(a.columns);
    __shared__ context_state state;
    __shared__ alignas(16) double taken[2 * max_columns];
    const compact_context& context = state.context; // complete after the prologue
    if (!kernel_prologue(parameter, state, taken)) return;
    const double* const arrived = arrived_sums(context, taken, Pass::awaits(at));
    typename Pass::template coefficients<T> coefficients[width];
    column_factors<T> factors[width];
#pragma unroll
    for (int c = 0; c < width; ++c) {
        const int column = lanes.first_column() + c;
        coefficients[c] = Pass::template prepare<T>(context.array, arrived, at, column);
        factors[c] = factors_of<Pass, T>(context.array, at, column);
    }
    double sums[(Pass::sums > 0 ? Pass::sums : 1) * width] = {};
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * block_threads;
    for (std::int64_t item = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
         item < lanes.first_item(a.rows); item += step) {
        const std::int64_t row = lanes.row_of(item);
        column_entries<T> entries[max_column_vectors];
#pragma unroll
        for (int v = 0; v < max_column_vectors; ++v)
            if ((Pass::reads >> v & 1) != 0) entries[v] = load_entries<T>(a.vectors[v], item);
        column_entries<T> product{};
        if constexpr (Pass::product != no_product)
            product = multiply_entries<T>(a.matrix, a.by_columns(Pass::product),
                                          a.matrix.begin(row), a.matrix.begin(row + 1), 1, lanes);
        const T d = inverse_diagonal<Pass>(a, row);
#pragma unroll
        for (int c = 0; c < width; ++c) {
            T e[max_column_vectors];
#pragma unroll
            for (int v = 0; v < max_column_vectors; ++v)
                if ((Pass::reads >> v & 1) != 0) e[v] = entries[v].at[c];
            double own[Pass::sums + 1] = {};
            Pass::apply(coefficients[c], factors[c].inverse * d, factors[c].product * product.at[c],
                        e, own);
#pragma unroll
            for (int v = 0; v < max_column_vectors; ++v)
                if ((Pass::writes >> v & 1) != 0) entries[v].at[c] = e[v];
#pragma unroll
            for (int s = 0; s < Pass::sums; ++s) sums[s * width + c] += own[s];
        }
#pragma unroll
        for (int v = 0; v < max_column_vectors; ++v)
            if ((Pass::writes >> v & 1) != 0) store_entries<T>(a.vectors[v], item, entries[v]);
    }
    if constexpr (Pass::sums > 0) post_columns<Pass::sums>(context, a.reduce, lanes, sums);
}

template <class Method>
__global__ void __launch_bounds__(block_threads)
    test_kernel(const __grid_constant__ compact_context parameter, int k, reduction reduce) {
    __shared__ context_state state;
    __shared__ alignas(16) double taken[2 * max_columns];
    const compact_context& context = state.context; // complete after the prologue
    if (!kernel_prologue(parameter, state, taken)) return;
    const int j = static_cast<int>(threadIdx.x);
    const column_places at{k};
    const double* const arrived = arrived_sums(context, taken, at.rr());
    const bool goes_on = j < k && Method::test(context.array, arrived, at, j);
    const double running[1] = {goes_on ? 1.0 : 0.0};
    reduce_and_post(context, reduce, running);
}

template <class Pass, class T>
void run_pass(device& device, const column_arguments<T>& a) {
    check_columns(a.columns);
    const launch_scope scope(device);
    const auto kernel = pass_kernel<T, Pass>;
    const std::int64_t items = a.rows * (a.columns / column_width);
    const unsigned blocks =
        scope.blocks(kernel, block_threads, (items + block_threads - 1) / block_threads);
    const column_operands<T>& operands = a;
    kernel<<<blocks, block_threads, 0, scope.stream()>>>(compact(a.common), operands);
    scope.check_launch();
}

template <class Method, class T>
void run_test(device& device, const column_arguments<T>& a) {
    const launch_scope scope(device);
    test_kernel<Method>
        <<<1, block_threads, 0, scope.stream()>>>(compact(a.common), a.columns, a.reduce);
    scope.check_launch();
}

/// `template struct column_passes<T, pass, other>;` emits run_pass() for these passes.
template <class T, class... Passes>
struct column_passes {
    static constexpr std::tuple addresses{&run_pass<Passes, T>...};
};

/// The same of run_test() for methods.
template <class T, class... Methods>
struct column_tests {
    static constexpr std::tuple addresses{&run_test<Methods, T>...};
};

} // namespace krylith::cuda
