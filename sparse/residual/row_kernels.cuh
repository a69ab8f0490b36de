// Passes over the rows of a block entry by entry, one thread for each row: the diagonal, and the
// residual in doubled precision. `Rows` has the members of csr_rows (block_rows.hpp).
#pragma once

#include <cstdint>

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/sparse/device_matrix/doubled_residual.hpp>
#include <krylith/sparse/residual/block_rows.hpp>

namespace krylith::cuda {

inline constexpr int row_threads = 256;

/// Computes the diagonal, whose column of row 0 is `first_owned`. Duplicates add up, as they do in
/// A x.
template <class T, class Rows>
__global__ void __launch_bounds__(row_threads)
    diagonal_kernel(const __grid_constant__ Rows rows, const __grid_constant__ row_map map,
                    std::int64_t first_owned, T* d) {
    const std::int64_t stride = std::int64_t{gridDim.x} * row_threads;
    for (std::int64_t place = std::int64_t{blockIdx.x} * row_threads + threadIdx.x;
         place < rows.places; place += stride) {
        const std::int64_t row = rows.row(place);
        if (row < 0) continue;
        const std::int64_t to = map.at(row);
        if (to >= map.rows) continue;
        T sum = 0;
        rows.visit(place, [&](std::int64_t column, T value) {
            if (column == first_owned + to) sum += value;
        });
        d[to] = sum;
    }
}

template <class T, class Rows>
void compute_diagonal(device& device, const Rows& rows, const row_map& map,
                      std::int64_t first_owned, T* d) {
    const launch_scope launch(device);
    const auto kernel = diagonal_kernel<T, Rows>;
    kernel<<<launch.blocks(kernel, row_threads, (rows.places + row_threads - 1) / row_threads),
             row_threads, 0, launch.stream()>>>(rows, map, first_owned, d);
    launch.check_launch();
}

/// Computes the residual; blockIdx.y is the column. The blocks' sums are those of parts.
template <class T, class Rows>
__global__ void __launch_bounds__(row_threads)
    residual_kernel(const __grid_constant__ Rows rows,
                    const __grid_constant__ residual_operands<T> a, residual_sums* sums) {
    __shared__ residual_sums shared[row_threads];
    const int me = static_cast<int>(threadIdx.x);
    const int column = static_cast<int>(blockIdx.y);
    const std::int64_t stride = std::int64_t{gridDim.x} * row_threads;
    residual_sums mine{};
    for (std::int64_t place = std::int64_t{blockIdx.x} * row_threads + me; place < rows.places;
         place += stride) {
        const std::int64_t row = rows.row(place);
        if (row < 0 || a.map.at(row) >= a.map.rows) continue;
        krylith::row_terms terms;
        rows.visit(place, [&](std::int64_t j, T value) {
            if (j >= 0) terms.add(value, a.x[j * a.columns + column]);
        });
        a.finish(row, column, terms, mine);
    }
    shared[me] = mine;
    for (int half = row_threads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (me < half) shared[me].join(shared[me + half]);
    }
    if (me == 0) sums[std::int64_t{blockIdx.x} * a.columns + column] = shared[0];
}

/// Enqueues the residual. Returns where the sums of its parts will be.
template <class T, class Rows>
[[nodiscard]] buffer<residual_sums> compute_residual(const std::shared_ptr<device>& device,
                                                     const Rows& rows,
                                                     const residual_operands<T>& a) {
    const launch_scope launch(*device);
    const auto kernel = residual_kernel<T, Rows>;
    const unsigned blocks =
        launch.blocks(kernel, row_threads, (rows.places + row_threads - 1) / row_threads);
    buffer<residual_sums> sums(device, std::size_t{blocks} * static_cast<std::size_t>(a.columns),
                               "residual");
    kernel<<<dim3(blocks, static_cast<unsigned>(a.columns)), row_threads, 0, launch.stream()>>>(
        rows, a, sums.data());
    launch.check_launch();
    return sums;
}

} // namespace krylith::cuda
