// Running sums and lists of rows that both phases need.
#pragma once

#include <cstdint>

#include <krylith/sparse/spgemm/row_classes.hpp>
#include <krylith/sparse/spgemm/spgemm_pattern.hpp>
#include <krylith/sparse/storage/two_pass_scan.cuh>

namespace krylith::cuda {

/// The item of a scan: its size.
struct sized {
    std::int64_t size;
};

/// Where the places of each row begin.
struct place_offsets {
    const std::uint32_t* products;
    std::int64_t rows;
    std::int64_t* at;

    [[nodiscard]] __device__ std::uint32_t count() const {
        return static_cast<std::uint32_t>(rows);
    }
    [[nodiscard]] __device__ sized load(std::uint32_t i) const {
        return {products[i] <= most_hashed_products ? std::int64_t{products[i]} : 0};
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

/// The rows of one class, ascending. Class is class_of_products or class_of_results of a row.
template <class Class>
struct rows_of_class {
    Class which;
    int wanted;
    std::int64_t rows;
    std::int32_t* list;

    [[nodiscard]] __device__ std::uint32_t count() const {
        return static_cast<std::uint32_t>(rows);
    }
    [[nodiscard]] __device__ sized load(std::uint32_t i) const {
        return {which(i) == wanted ? 1 : 0};
    }
    __device__ void emit(bool there, std::uint32_t i, sized item, std::int64_t before) const {
        if (there && item.size != 0) list[before] = static_cast<std::int32_t>(i);
    }
    __device__ void finish(std::int64_t) const {}
};

struct count_class_of {
    const std::uint32_t* products;
    [[nodiscard]] __device__ int operator()(std::uint32_t i) const {
        return static_cast<int>(class_of_products(products[i]));
    }
};

struct sum_class_of {
    const std::uint32_t* products;
    const std::int32_t* results;
    bool keeps_places;
    [[nodiscard]] __device__ int operator()(std::uint32_t i) const {
        return static_cast<int>(class_of_results(products[i], results[i], keeps_places));
    }
};

/// Where the chunks of each searched row begin.
struct chunk_offsets {
    const std::int32_t* counts;
    row_list rows;
    std::int64_t* at;

    [[nodiscard]] __device__ std::uint32_t count() const {
        return static_cast<std::uint32_t>(rows.count);
    }
    [[nodiscard]] __device__ sized load(std::uint32_t i) const {
        const std::int64_t row = rows.rows != nullptr ? rows.rows[i] : i;
        return {(counts[row] + search_chunk - 1) / search_chunk};
    }
    __device__ void emit(bool there, std::uint32_t i, sized, std::int64_t before) const {
        if (there) at[i] = before;
    }
    __device__ void finish(std::int64_t total) const { at[rows.count] = total; }
};

/// How many rows there are of each class of sums; zero before.
struct result_totals {
    unsigned long long nonzeros;
    unsigned long long chunks;
    unsigned rows_of[static_cast<int>(sum_class::number)];
};

__global__ void __launch_bounds__(block_threads)
    count_results(const std::uint32_t* products, const std::int32_t* results, std::int64_t rows,
                  bool keeps_places, result_totals* totals) {
    constexpr int classes = static_cast<int>(sum_class::number);
    __shared__ unsigned rows_of[classes];
    if (threadIdx.x < classes) rows_of[threadIdx.x] = 0;
    __syncthreads();
    unsigned long long nonzeros = 0;
    unsigned long long chunks = 0;
    unsigned mine[classes] = {};
    for (std::int64_t i = std::int64_t{blockIdx.x} * block_threads + threadIdx.x; i < rows;
         i += std::int64_t{gridDim.x} * block_threads) {
        const sum_class which = class_of_results(products[i], results[i], keeps_places);
#pragma unroll
        for (int c = 0; c < classes; ++c) mine[c] += static_cast<int>(which) == c ? 1 : 0;
        nonzeros += static_cast<unsigned>(results[i]);
        if (which == sum_class::searched)
            chunks += static_cast<unsigned>((results[i] + search_chunk - 1) / search_chunk);
    }
    nonzeros = warp_sum(nonzeros);
    chunks = warp_sum(chunks);
    if (lane_number() == 0) {
        atomicAdd(&totals->nonzeros, nonzeros);
        if (chunks != 0) atomicAdd(&totals->chunks, chunks);
    }
    for (int c = 0; c < classes; ++c)
        if (mine[c] != 0) atomicAdd(&rows_of[c], mine[c]);
    __syncthreads();
    if (threadIdx.x < classes && rows_of[threadIdx.x] != 0)
        atomicAdd(&totals->rows_of[threadIdx.x], rows_of[threadIdx.x]);
}

} // namespace krylith::cuda
