// Running sums and lists of rows that both phases need.
#pragma once

#include <cstdint>

#include <krylith/device/loops/two_pass_scan.cuh>
#include <krylith/sparse/spgemm/giant_rows.hpp>
#include <krylith/sparse/spgemm/row_classes.hpp>
#include <krylith/sparse/spgemm/spgemm_pattern.hpp>

namespace krylith::cuda {

/// The item of a scan: its size.
struct sized {
    std::int64_t size;
};

/// Where the places of each row begin.
struct place_offsets {
    class_rules rules;
    const std::int64_t* a_offsets;
    const std::uint32_t* products;
    const std::uint8_t* together; ///< [rows] not 0: added up with its neighbours; null: none is
    std::int64_t rows;
    std::int64_t* at;

    [[nodiscard]] __device__ std::uint32_t count() const {
        return static_cast<std::uint32_t>(rows);
    }
    [[nodiscard]] __device__ sized load(std::uint32_t i) const {
        if (together != nullptr && together[i] != 0) return {0};
        const std::int64_t entries = a_offsets[i + 1] - a_offsets[i];
        return {rules.may_be_placed(products[i], entries) ? std::int64_t{products[i]} : 0};
    }
    __device__ void emit(bool there, std::uint32_t i, sized, std::int64_t before) const {
        if (there) at[i] = before;
    }
    __device__ void finish(std::int64_t total) const { at[rows] = total; }
};

/// The offsets of C. `counts` may be what `at` is made of only where they differ.
struct result_offsets {
    const std::int32_t* counts;
    std::int64_t rows;
    std::int64_t* at;

    [[nodiscard]] __device__ std::uint32_t count() const {
        return static_cast<std::uint32_t>(rows);
    }
    [[nodiscard]] __device__ sized load(std::uint32_t i) const { return {counts[i]}; }
    __device__ void emit(bool there, std::uint32_t i, sized, std::int64_t before) const {
        if (there) at[i] = before;
    }
    __device__ void finish(std::int64_t total) const { at[rows] = total; }
};

struct count_class_of {
    class_rules rules;
    const std::int64_t* a_offsets;
    const std::uint32_t* products;
    [[nodiscard]] __device__ int operator()(std::uint32_t i) const {
        return static_cast<int>(rules.of_products(products[i], a_offsets[i + 1] - a_offsets[i]));
    }
};

struct sum_class_of {
    class_rules rules;
    const std::int64_t* a_offsets;
    const std::uint32_t* products;
    const std::int32_t* results;
    const std::uint8_t* together; ///< null: no row is
    [[nodiscard]] __device__ int operator()(std::uint32_t i) const {
        if (together != nullptr && together[i] != 0) return static_cast<int>(sum_class::together);
        return static_cast<int>(
            rules.of_results(products[i], a_offsets[i + 1] - a_offsets[i], results[i]));
    }
};

/// Where the chunks of each searched row begin.
struct chunk_offsets {
    const std::int32_t* counts;
    row_list rows;
    int chunk;
    std::int64_t* at;

    [[nodiscard]] __device__ std::uint32_t count() const {
        return static_cast<std::uint32_t>(rows.count);
    }
    [[nodiscard]] __device__ sized load(std::uint32_t i) const {
        const std::int64_t row = rows.rows != nullptr ? rows.rows[i] : i;
        return {(std::int64_t{counts[row]} + chunk - 1) / chunk};
    }
    __device__ void emit(bool there, std::uint32_t i, sized, std::int64_t before) const {
        if (there) at[i] = before;
    }
    __device__ void finish(std::int64_t total) const { at[rows.count] = total; }
};

/// How many rows there are of each class of sums; zero before.
struct result_totals {
    unsigned long long nonzeros;
    unsigned long long chunks[2]; ///< of searched and of giant searched rows
    unsigned rows_of[static_cast<int>(sum_class::number)];
};

__global__ void __launch_bounds__(block_threads)
    count_results(const sum_class_of class_of, std::int64_t rows, result_totals* totals) {
    constexpr int classes = static_cast<int>(sum_class::number);
    __shared__ unsigned rows_of[classes];
    if (threadIdx.x < classes) rows_of[threadIdx.x] = 0;
    __syncthreads();
    unsigned long long nonzeros = 0;
    unsigned long long chunks[2] = {};
    unsigned mine[classes] = {};
    const auto chunk = static_cast<unsigned>(class_of.rules.limits.chunk);
    for (std::int64_t i = std::int64_t{blockIdx.x} * block_threads + threadIdx.x; i < rows;
         i += std::int64_t{gridDim.x} * block_threads) {
        const int which = class_of(static_cast<std::uint32_t>(i));
        const std::int32_t results = class_of.results[i];
#pragma unroll
        for (int c = 0; c < classes; ++c) mine[c] += which == c ? 1 : 0;
        nonzeros += static_cast<unsigned>(results);
        const unsigned parts = (static_cast<unsigned>(results) + chunk - 1) / chunk;
        if (which == static_cast<int>(sum_class::searched)) chunks[0] += parts;
        if (which == static_cast<int>(sum_class::giant_searched)) chunks[1] += parts;
    }
    nonzeros = warp_sum(nonzeros);
    for (auto& sum : chunks) sum = warp_sum(sum);
    if (lane_number() == 0) {
        atomicAdd(&totals->nonzeros, nonzeros);
        for (int i = 0; i < 2; ++i)
            if (chunks[i] != 0) atomicAdd(&totals->chunks[i], chunks[i]);
    }
    for (int c = 0; c < classes; ++c)
        if (mine[c] != 0) atomicAdd(&rows_of[c], mine[c]);
    __syncthreads();
    if (threadIdx.x < classes && rows_of[threadIdx.x] != 0)
        atomicAdd(&totals->rows_of[threadIdx.x], rows_of[threadIdx.x]);
}

/// Gathers what the host must know of some rows.
__global__ void __launch_bounds__(block_threads)
    describe_rows(const row_list rows, const csr_pattern a, const std::int64_t* b_offsets,
                  const std::int64_t* c_offsets, sorted_row* to) {
    for (std::int64_t i = blockIdx.x; i < rows.count; i += gridDim.x) {
        const std::int64_t row = rows.rows != nullptr ? rows.rows[i] : i;
        const std::int64_t begin = a.offsets[row];
        const std::int64_t end = a.offsets[row + 1];
        __shared__ unsigned long long products;
        if (threadIdx.x == 0) products = 0;
        __syncthreads();
        unsigned long long sum = 0;
        for (std::int64_t k = begin + threadIdx.x; k < end; k += block_threads)
            sum += static_cast<unsigned long long>(b_offsets[a.indices[k] + 1] -
                                                   b_offsets[a.indices[k]]);
        atomicAdd(&products, sum);
        __syncthreads();
        if (threadIdx.x == 0)
            to[i] = {row,   end - begin,    c_offsets[row + 1] - c_offsets[row],
                     begin, c_offsets[row], static_cast<std::int64_t>(products)};
        __syncthreads();
    }
}

} // namespace krylith::cuda
