// The number of products of each row, and whether the columns of B ascend.
#pragma once

#include <cstdint>

#include <krylith/sparse/spgemm/row_classes.hpp>
#include <krylith/sparse/spgemm/spgemm_pattern.hpp>
#include <krylith/vector/scalar/kernel_context_cuda.cuh>

namespace krylith::cuda {

/// What the symbolic phase tells the host; zero but for first_disorder before.
struct product_totals {
    unsigned long long products;
    unsigned long long placed;         ///< products of rows that may keep places
    unsigned long long most_results;   ///< a row has at most as many as columns
    unsigned long long first_disorder; ///< the first row of B out of order; all ones: none
    unsigned rows_of[static_cast<int>(count_class::number)];
};

/// A row in 8 lanes. `counts` gets the products of each row, at most 2^32 - 1; it may be null.
__global__ void __launch_bounds__(block_threads)
    count_products(const __grid_constant__ csr_pattern a, const std::int64_t* b_offsets,
                   const class_rules rules, std::uint32_t* counts, product_totals* totals) {
    constexpr int lanes = 8;
    constexpr int classes = static_cast<int>(count_class::number);
    __shared__ unsigned rows_of[classes];
    __shared__ unsigned long long sums[3];
    if (threadIdx.x < classes) rows_of[threadIdx.x] = 0;
    if (threadIdx.x < 3) sums[threadIdx.x] = 0;
    __syncthreads();
    const int lane = static_cast<int>(threadIdx.x) % lanes;
    const std::int64_t step = std::int64_t{gridDim.x} * (block_threads / lanes);
    unsigned long long products = 0;
    unsigned long long placed = 0;
    unsigned long long results = 0;
    unsigned mine[classes] = {};
    for (std::int64_t first = std::int64_t{blockIdx.x} * (block_threads / lanes); first < a.rows;
         first += step) {
        const std::int64_t row = first + threadIdx.x / lanes;
        unsigned long long sum = 0;
        if (row < a.rows)
            for (std::int64_t k = a.offsets[row] + lane; k < a.offsets[row + 1]; k += lanes) {
                const std::int32_t from = a.indices[k];
                sum += static_cast<unsigned long long>(b_offsets[from + 1] - b_offsets[from]);
            }
        sum = warp_sum<lanes>(sum);
        if (lane != 0 || row >= a.rows) continue;
        const auto count = static_cast<std::uint32_t>(sum < 0xffffffffull ? sum : 0xffffffffull);
        if (counts != nullptr) counts[row] = count;
        const count_class which = rules.of_products(count, a.offsets[row + 1] - a.offsets[row]);
#pragma unroll
        for (int c = 0; c < classes; ++c) mine[c] += static_cast<int>(which) == c ? 1 : 0;
        products += sum;
        if (sum <= most_hashed_products) placed += sum;
        results += sum < static_cast<unsigned long long>(rules.columns)
                       ? sum
                       : static_cast<unsigned long long>(rules.columns);
    }
    if (lane == 0) {
        atomicAdd(&sums[0], products);
        atomicAdd(&sums[1], placed);
        atomicAdd(&sums[2], results);
        for (int c = 0; c < classes; ++c)
            if (mine[c] != 0) atomicAdd(&rows_of[c], mine[c]);
    }
    __syncthreads();
    if (threadIdx.x < classes && rows_of[threadIdx.x] != 0)
        atomicAdd(&totals->rows_of[threadIdx.x], rows_of[threadIdx.x]);
    if (threadIdx.x == 0) {
        atomicAdd(&totals->products, sums[0]);
        atomicAdd(&totals->placed, sums[1]);
        atomicAdd(&totals->most_results, sums[2]);
    }
}

/// A row in 8 lanes.
__global__ void __launch_bounds__(block_threads)
    find_disorder(const __grid_constant__ csr_pattern b, product_totals* totals) {
    constexpr int lanes = 8;
    const int lane = static_cast<int>(threadIdx.x) % lanes;
    const std::int64_t step = std::int64_t{gridDim.x} * (block_threads / lanes);
    for (std::int64_t row = (std::int64_t{blockIdx.x} * block_threads + threadIdx.x) / lanes;
         row < b.rows; row += step) {
        bool ascends = true;
        for (std::int64_t k = b.offsets[row] + lane; k + 1 < b.offsets[row + 1]; k += lanes)
            ascends = ascends && b.indices[k] < b.indices[k + 1];
        if (!ascends) atomicMin(&totals->first_disorder, static_cast<unsigned long long>(row));
    }
}

} // namespace krylith::cuda
