// The product of a block in compressed rows with several columns at once on a GPU. The lanes of a
// row read each nonzero at once and k entries of x side by side; a long row has a whole warp, whose
// groups of lanes take every so many of its entries.
#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/sparse/csr/column_entries.cuh>
#include <krylith/sparse/csr/column_product.hpp>
#include <krylith/vector/execution/kernel_context_cuda.cuh>

namespace krylith::cuda {

namespace {

/// Rows of at least so many entries on average have a warp each: a few lanes alone would wait for
/// one load after the other.
constexpr std::int64_t long_product_row = 24;

/// The lanes of a row have it, or a whole warp.
template <class T, bool Warp>
__global__ void __launch_bounds__(block_threads)
    product_kernel(const __grid_constant__ compact_context parameter,
                   const __grid_constant__ column_product_operands<T> a) {
    __shared__ context_state state;
    if (!kernel_prologue(parameter, state)) return;
    const row_lanes lanes(a.columns);
    const int groups = Warp ? 32 / lanes.count() : 1;
    const int group = Warp ? static_cast<int>(threadIdx.x) % 32 / lanes.count() : 0;
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * block_threads;
    for (std::int64_t item = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
         item < (Warp ? a.rows * 32 : lanes.first_item(a.rows)); item += step) {
        const std::int64_t row = Warp ? item / 32 : lanes.row_of(item);
        auto sum = multiply_entries(a.matrix, a.x, a.matrix.begin(row) + group,
                                    a.matrix.begin(row + 1), groups, lanes);
        if constexpr (Warp) { // it goes on or ends as one
            for (int distance = lanes.count(); distance < 32; distance *= 2)
#pragma unroll
                for (int c = 0; c < column_width; ++c)
                    sum.at[c] += __shfl_xor_sync(0xffffffffu, sum.at[c], distance);
            if (group != 0) continue;
        }
        const std::int64_t place = lanes.first_item(row) + lanes.lane();
        column_entries<T> y{};
        if (a.beta != T(0)) y = load_entries(a.y, place);
#pragma unroll
        for (int c = 0; c < column_width; ++c)
            y.at[c] = a.beta != T(0) ? a.alpha * sum.at[c] + a.beta * y.at[c] : a.alpha * sum.at[c];
        store_entries(a.y, place, y);
    }
}

template <class T>
void launch_product(device& device, const column_product<T>& a, bool warp) {
    const launch_scope scope(device);
    const auto kernel = warp ? product_kernel<T, true> : product_kernel<T, false>;
    const std::int64_t lanes = warp ? 32 : a.columns / column_width;
    const unsigned blocks =
        scope.blocks(kernel, block_threads, (a.rows * lanes + block_threads - 1) / block_threads);
    const column_product_operands<T>& operands = a;
    kernel<<<blocks, block_threads, 0, scope.stream()>>>(compact(a.common), operands);
    scope.check_launch();
}

} // namespace

template <class T>
void multiply_columns(device& device, const column_product<T>& a) {
    check_columns(a.columns);
    launch_product(device, a, a.nonzeros >= long_product_row * a.rows);
}

#define KRYLITH_INSTANTIATE(T) template void multiply_columns(device&, const column_product<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
