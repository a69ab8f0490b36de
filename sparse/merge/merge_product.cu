#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/sparse/merge/merge_product.hpp>
#include <krylith/sparse/merge/merge_tile.cuh>

namespace krylith::cuda {

namespace {

/// Finds the rows that end before each tile, one thread for each tile.
template <class Offset>
__global__ void __launch_bounds__(block_threads)
    find_tiles(const Offset* offsets, std::int32_t rows, std::int64_t items, std::int32_t tiles,
               std::int32_t* tile_rows, unsigned* finished) {
    const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
    std::int64_t tile = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (tile == 0) *finished = 0;
    for (; tile <= tiles; tile += stride)
        tile_rows[tile] = rows_ended(offsets + 1, rows, min(tile * merge_tile_items, items));
}

/// Takes the sums of rows as row_epilogue does, for one device.
template <class T>
struct plain_rows {
    T* y;
    T alpha;
    T beta;

    __device__ void before_reading(bool) const {}
    __device__ void before_writing() const {}
    __device__ void row(std::int64_t row, T sum) const {
        T result = alpha * sum;
        if (beta != T(0)) result += beta * y[row];
        y[row] = result;
    }
};

template <class T, class Offset>
__global__ void __launch_bounds__(block_threads, 4)
    merge_product_kernel(const __grid_constant__ merge_view<T, Offset> m, const T* x,
                         const __grid_constant__ plain_rows<T> rows, unsigned* finished) {
    __shared__ merge_shared<T> s;
    merge_chunks chunks;
    const merge_step first = chunks.next(m);
    merge_loads<T, Offset> loads;
    loads.start(m, first);
    dense_terms<T> terms{x};
    multiply_chunks(m, terms, s, chunks, first, loads, rows);
    if (m.chunks < 2 || !last_block(finished)) return;
    if (threadIdx.x == 0) *finished = 0;
    join_chunks<dense_terms<T>>(m.edges, m.chunks, s.carry, rows);
}

} // namespace

template <class T, class Offset>
void find_merge_tiles(device& device, const Offset* offsets, std::int64_t rows,
                      std::int64_t nonzeros, void* scratch) {
    check_index_size("merge product: the number of rows", rows);
    const auto parts = merge_scratch<T>::in(scratch, rows, nonzeros);
    const merge_division path = divide_merge_path(rows, nonzeros, 1);
    const launch_scope launch(device);
    const auto kernel = find_tiles<Offset>;
    kernel<<<launch.blocks(kernel, block_threads, path.tiles / block_threads + 1), block_threads, 0,
             launch.stream()>>>(offsets, static_cast<std::int32_t>(rows), path.items, path.tiles,
                                parts.tile_rows, parts.finished);
    launch.check_launch();
}

template <class T, class Offset>
void multiply(device& device, const merge_product<T, Offset>& p, void* scratch) {
    if (p.rows == 0) return;
    const auto parts = merge_scratch<T>::in(scratch, p.rows, p.nonzeros);
    const launch_scope launch(device);
    const auto kernel = merge_product_kernel<T, Offset>;
    const merge_division path = divide_merge_path(
        p.rows, p.nonzeros, launch.blocks(kernel, block_threads, most_merge_chunks));
    const merge_view<T, Offset> view{p.offsets,       p.columns,   p.values,   path.items,
                                     parts.tile_rows, nullptr,     path.tiles, path.tiles_per_chunk,
                                     path.chunks,     path.chunks, parts.edges};
    kernel<<<launch.blocks(kernel, block_threads, path.chunks), block_threads, 0,
             launch.stream()>>>(view, p.x, {p.y, p.alpha, p.beta}, parts.finished);
    launch.check_launch();
}

#define KRYLITH_INSTANTIATE(T, Offset)                                                             \
    template void find_merge_tiles<T>(device&, const Offset*, std::int64_t, std::int64_t, void*);  \
    template void multiply(device&, const merge_product<T, Offset>&, void*);
KRYLITH_INSTANTIATE(double, std::int32_t)
KRYLITH_INSTANTIATE(double, std::int64_t)
KRYLITH_INSTANTIATE(float, std::int32_t)
KRYLITH_INSTANTIATE(float, std::int64_t)
#undef KRYLITH_INSTANTIATE

} // namespace krylith::cuda
