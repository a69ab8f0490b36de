// The diagonal of a block in CSR order.
#pragma once

#include <cstdint>

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/sparse/storage/row_map.hpp>

namespace krylith::cuda {

/// Computes the diagonal, one thread for each row. Duplicates add up, as they do in A x.
template <class T, class Offset, class Column>
__global__ void __launch_bounds__(256)
    csr_diagonal_kernel(const Offset* offsets, const Column* columns, const T* values,
                        std::int64_t rows, const __grid_constant__ row_map map, T* d) {
    const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
    for (std::int64_t row = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; row < rows;
         row += stride) {
        const std::int64_t to = map.at(row);
        if (to >= map.rows) continue;
        T sum = 0;
        for (Offset k = offsets[row]; k < offsets[row + 1]; ++k)
            if (columns[k] == to) sum += values[k];
        d[to] = sum;
    }
}

template <class T, class Offset, class Column>
void csr_diagonal(device& device, const Offset* offsets, const Column* columns, const T* values,
                  std::int64_t rows, const row_map& map, T* d) {
    constexpr int threads = 256;
    const launch_scope launch(device);
    const auto kernel = csr_diagonal_kernel<T, Offset, Column>;
    kernel<<<launch.blocks(kernel, threads, (rows + threads - 1) / threads), threads, 0,
             launch.stream()>>>(offsets, columns, values, rows, map, d);
    launch.check_launch();
}

} // namespace krylith::cuda
