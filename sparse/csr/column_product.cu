// The product of a block in compressed rows with several columns at once on a GPU. The lanes of a
// row read each nonzero at once and k entries of x side by side; a long row has a whole warp, whose
// groups of lanes take every so many of its entries.
#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/sparse/csr/column_entries.cuh>
#include <krylith/sparse/csr/column_product.hpp>
#include <krylith/vector/scalar/kernel_context_cuda.cuh>

namespace krylith::cuda {

namespace {

/// Rows of at least so many entries on average have a warp each: a few lanes alone would wait for
/// one load after the other.
constexpr std::int64_t long_row = 24;

/// `Lanes` threads have a row: row_lanes<K>, or a whole warp.
template <class T, int K, int Lanes>
__global__ void __launch_bounds__(block_threads)
    product_kernel(const __grid_constant__ compact_context parameter,
                   const __grid_constant__ column_product_operands<T> a) {
    constexpr int groups = Lanes / row_lanes<K>;
    __shared__ context_state state;
    if (!kernel_prologue(parameter, state)) return;
    const int lane = row_lane<K>();
    const int group = static_cast<int>(threadIdx.x) % Lanes / row_lanes<K>;
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * block_threads;
    for (std::int64_t item = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
         item < a.rows * Lanes; item += step) {
        const std::int64_t row = item / Lanes;
        auto sum = multiply_entries<T, K>(a.matrix, a.x, a.matrix.begin(row) + group,
                                          a.matrix.begin(row + 1), groups, lane);
        if constexpr (groups > 1) { // then a warp has one row, and goes on or ends as one
#pragma unroll
            for (int distance = row_lanes<K>; distance < 32; distance *= 2)
#pragma unroll
                for (int c = 0; c < column_width; ++c)
                    sum.at[c] += __shfl_xor_sync(0xffffffffu, sum.at[c], distance);
            if (group != 0) continue;
        }
        const std::int64_t place = row * row_lanes<K> + lane;
        column_entries<T, K> y{};
        if (a.beta != T(0)) y = load_entries<T, K>(a.y, place);
#pragma unroll
        for (int c = 0; c < column_width; ++c)
            y.at[c] = a.beta != T(0) ? a.alpha * sum.at[c] + a.beta * y.at[c] : a.alpha * sum.at[c];
        store_entries<T, K>(a.y, place, y);
    }
}

template <class T, int K, int Lanes>
void launch(device& device, const column_product<T>& a) {
    const launch_scope scope(device);
    const auto kernel = product_kernel<T, K, Lanes>;
    const unsigned blocks =
        scope.blocks(kernel, block_threads, (a.rows * Lanes + block_threads - 1) / block_threads);
    const column_product_operands<T>& operands = a;
    kernel<<<blocks, block_threads, 0, scope.stream()>>>(compact(a.common), operands);
    scope.check_launch();
}

} // namespace

template <class T>
void multiply_columns(device& device, const column_product<T>& a) {
    with_columns(a.columns, [&](auto k) {
        constexpr int columns = decltype(k)::value;
        if (a.nonzeros >= long_row * a.rows)
            launch<T, columns, 32>(device, a);
        else
            launch<T, columns, row_lanes<columns>>(device, a);
    });
}

template void multiply_columns(device&, const column_product<double>&);
template void multiply_columns(device&, const column_product<float>&);

} // namespace krylith::cuda
