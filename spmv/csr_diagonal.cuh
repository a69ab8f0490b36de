// The diagonal of a block in CSR order.
#pragma once

#include <cstdint>

#include <krylith/device/cuda_device.cuh>

namespace krylith::cuda {

/// A thread a row. Duplicates add up, as they do in A x.
template <class T, class Offset, class Column>
__global__ void __launch_bounds__(256)
    csr_diagonal_kernel(const Offset* offsets, const Column* columns, const T* values,
                        std::int64_t rows, std::int64_t first, T* d) {
    const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
    for (std::int64_t row = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; row < rows;
         row += stride) {
        T sum = 0;
        for (Offset k = offsets[row]; k < offsets[row + 1]; ++k)
            if (columns[k] == first + row) sum += values[k];
        d[row] = sum;
    }
}

template <class T, class Offset, class Column>
void csr_diagonal(device& where, const Offset* offsets, const Column* columns, const T* values,
                  std::int64_t rows, std::int64_t first, T* d) {
    constexpr int threads = 256;
    const launch_scope launch(where);
    const auto kernel = csr_diagonal_kernel<T, Offset, Column>;
    kernel<<<launch.blocks(kernel, threads, (rows + threads - 1) / threads), threads, 0,
             launch.stream()>>>(offsets, columns, values, rows, first, d);
    launch.check_launch();
}

} // namespace krylith::cuda
