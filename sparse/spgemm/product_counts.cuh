// The number of products of each row, and whether the columns of B ascend.
#pragma once

#include <cstdint>

#include <krylith/device/cuda/warp_rows.cuh>
#include <krylith/sparse/spgemm/product_totals.hpp>
#include <krylith/sparse/spgemm/row_classes.hpp>
#include <krylith/sparse/spgemm/spgemm_pattern.hpp>
#include <krylith/vector/execution/kernel_context_cuda.cuh>

namespace krylith::cuda {

/// Rows of A that count_products leaves to count_long_rows.
struct long_rows {
    static constexpr std::int64_t entries = 65536; ///< more of these
    std::int32_t* rows;
    unsigned long long* products; ///< 0 before
};

/// The totals of a block.
struct block_totals {
    unsigned rows_of[static_cast<int>(count_class::number)];
    unsigned long long sums[4];
    unsigned of_many;

    __device__ void clear() {
        if (threadIdx.x < static_cast<int>(count_class::number)) rows_of[threadIdx.x] = 0;
        if (threadIdx.x < 4) sums[threadIdx.x] = 0;
        if (threadIdx.x == 0) of_many = 0;
        __syncthreads();
    }
    /// Adds a row; any thread calls it.
    __device__ std::uint32_t add(const class_rules& rules, std::int64_t entries,
                                 unsigned long long products) {
        const auto count =
            static_cast<std::uint32_t>(products < 0xffffffffull ? products : 0xffffffffull);
        atomicAdd(&rows_of[static_cast<int>(rules.of_products(count, entries))], 1u);
        const auto columns = static_cast<unsigned long long>(rules.columns);
        atomicAdd(&sums[0], products);
        if (products <= most_hashed_products) atomicAdd(&sums[1], products);
        atomicAdd(&sums[2], products < columns ? products : columns);
        if (rules.of_many(count, entries)) {
            atomicAdd(&sums[3], products);
            atomicAdd(&of_many, 1u);
        }
        return count;
    }
    __device__ void leave(product_totals* totals) const {
        __syncthreads();
        if (threadIdx.x < static_cast<int>(count_class::number) && rows_of[threadIdx.x] != 0)
            atomicAdd(&totals->rows_of[threadIdx.x], rows_of[threadIdx.x]);
        if (threadIdx.x != 0) return;
        atomicAdd(&totals->products, sums[0]);
        atomicAdd(&totals->placed, sums[1]);
        atomicAdd(&totals->most_results, sums[2]);
        atomicAdd(&totals->many_placed, sums[3]);
        atomicAdd(&totals->of_many, of_many);
    }
};

/// A row a lane, or a block where it has more than 512 entries. `counts` gets the products of each
/// row, at most 2^32 - 1; it may be null.
__global__ void __launch_bounds__(block_threads)
    count_products(const __grid_constant__ csr_pattern a, const std::int64_t* b_offsets,
                   const class_rules rules, std::uint32_t* counts, const long_rows later,
                   product_totals* totals) {
    constexpr int at_once = warp_rows<unsigned>::rows_at_once;
    constexpr int classes = static_cast<int>(count_class::number);
    constexpr std::int64_t short_entries = 512;
    __shared__ block_totals block;
    __shared__ unsigned long long row_sum;
    __shared__ warp_rows<unsigned> tiles[block_warps];
    block.clear();
    unsigned long long products = 0;
    unsigned long long placed = 0;
    unsigned long long results = 0;
    unsigned long long many_placed = 0;
    unsigned of_many = 0;
    unsigned mine[classes] = {};
    const auto length_of = [&](std::int32_t from) {
        return static_cast<unsigned long long>(b_offsets[from + 1] - b_offsets[from]);
    };
    for (std::int64_t first = std::int64_t{blockIdx.x} * block_threads; first < a.rows;
         first += std::int64_t{gridDim.x} * block_threads) {
        const std::int64_t row = first + threadIdx.x;
        const std::int64_t begin = row < a.rows ? a.offsets[row] : 0;
        const std::int64_t entries = row < a.rows ? a.offsets[row + 1] - begin : 0;
        unsigned long long sum = 0;
        take_rows(
            tiles[threadIdx.x / 32], begin,
            entries <= short_entries ? static_cast<int>(entries) : 0,
            [&](const std::int64_t(&at)[at_once], const int(&)[at_once],
                unsigned(&length)[at_once]) {
                std::int32_t from[at_once];
#pragma unroll
                for (int i = 0; i < at_once; ++i) from[i] = a.indices[at[i] < 0 ? 0 : at[i]];
#pragma unroll
                for (int i = 0; i < at_once; ++i)
                    length[i] = static_cast<unsigned>(length_of(from[i]));
            },
            [&](unsigned length) { sum += length; });
        const bool is_long = entries > short_entries;
        if (row < a.rows && !is_long) {
            // Kept in registers: most rows are short.
            const auto count = static_cast<std::uint32_t>(sum < 0xffffffffull ? sum : 0xffffffffu);
            if (counts != nullptr) counts[row] = count;
            const count_class which = rules.of_products(count, entries);
#pragma unroll
            for (int c = 0; c < classes; ++c) mine[c] += static_cast<int>(which) == c ? 1 : 0;
            products += sum;
            if (sum <= most_hashed_products) placed += sum;
            if (rules.of_many(count, entries)) {
                many_placed += sum;
                ++of_many;
            }
            const auto columns = static_cast<unsigned long long>(rules.columns);
            results += sum < columns ? sum : columns;
        }
        if (__syncthreads_or(is_long) == 0) continue;
        for (int i = 0; i < block_threads && first + i < a.rows; ++i) {
            const std::int64_t from = a.offsets[first + i];
            const std::int64_t to = a.offsets[first + i + 1];
            if (to - from <= short_entries) continue;
            if (to - from > long_rows::entries) {
                if (threadIdx.x == 0)
                    later.rows[atomicAdd(&totals->long_rows, 1u)] =
                        static_cast<std::int32_t>(first + i);
                continue;
            }
            if (threadIdx.x == 0) row_sum = 0;
            __syncthreads();
            unsigned long long part = 0;
            for (std::int64_t k = from + threadIdx.x; k < to; k += block_threads)
                part += length_of(a.indices[k]);
            part = warp_sum(part);
            if (lane_number() == 0) atomicAdd(&row_sum, part);
            __syncthreads();
            if (threadIdx.x == 0) {
                const std::uint32_t count = block.add(rules, to - from, row_sum);
                if (counts != nullptr) counts[first + i] = count;
            }
            __syncthreads();
        }
    }
    products = warp_sum(products);
    placed = warp_sum(placed);
    results = warp_sum(results);
    many_placed = warp_sum(many_placed);
    of_many = warp_sum(of_many);
    for (unsigned& count : mine) count = warp_sum(count);
    if (lane_number() == 0) {
        atomicAdd(&block.sums[0], products);
        atomicAdd(&block.sums[1], placed);
        atomicAdd(&block.sums[2], results);
        if (of_many != 0) {
            atomicAdd(&block.sums[3], many_placed);
            atomicAdd(&block.of_many, of_many);
        }
        for (int c = 0; c < classes; ++c)
            if (mine[c] != 0) atomicAdd(&block.rows_of[c], mine[c]);
    }
    block.leave(totals);
}

/// The long rows, each by all blocks.
__global__ void __launch_bounds__(block_threads)
    add_up_long_rows(const __grid_constant__ csr_pattern a, const std::int64_t* b_offsets,
                     const long_rows rows, const product_totals* totals) {
    for (unsigned i = 0; i < totals->long_rows; ++i) {
        const std::int64_t end = a.offsets[rows.rows[i] + 1];
        unsigned long long sum = 0;
        for (std::int64_t k =
                 a.offsets[rows.rows[i]] + std::int64_t{blockIdx.x} * block_threads + threadIdx.x;
             k < end; k += std::int64_t{gridDim.x} * block_threads) {
            const std::int32_t from = a.indices[k];
            sum += static_cast<unsigned long long>(b_offsets[from + 1] - b_offsets[from]);
        }
        sum = warp_sum(sum);
        if (lane_number() == 0 && sum != 0) atomicAdd(&rows.products[i], sum);
    }
}

/// What they come to: one block.
__global__ void __launch_bounds__(block_threads)
    count_long_rows(const __grid_constant__ csr_pattern a, const class_rules rules,
                    std::uint32_t* counts, const long_rows rows, product_totals* totals) {
    __shared__ block_totals block;
    block.clear();
    for (unsigned i = threadIdx.x; i < totals->long_rows; i += block_threads) {
        const std::int32_t row = rows.rows[i];
        const std::uint32_t count =
            block.add(rules, a.offsets[row + 1] - a.offsets[row], rows.products[i]);
        if (counts != nullptr) counts[row] = count;
    }
    block.leave(totals);
}

/// Columns ascend strictly in all rows where all descents are ends of rows: rows of any length are
/// looked at alike.
__global__ void __launch_bounds__(block_threads)
    count_descents(const __grid_constant__ csr_pattern b, product_totals* totals) {
    const std::int64_t first = std::int64_t{blockIdx.x} * block_threads + threadIdx.x;
    const std::int64_t step = std::int64_t{gridDim.x} * block_threads;
    unsigned long long descents = 0;
    unsigned long long row_ends = 0;
    for (std::int64_t k = first; k + 1 < b.nonzeros; k += step)
        descents += b.indices[k] >= b.indices[k + 1] ? 1 : 0;
    for (std::int64_t row = first; row < b.rows; row += step) {
        const std::int64_t end = b.offsets[row + 1];
        if (end != b.offsets[row] && end < b.nonzeros)
            row_ends += b.indices[end - 1] >= b.indices[end] ? 1 : 0;
    }
    descents = warp_sum(descents);
    row_ends = warp_sum(row_ends);
    if (lane_number() != 0) return;
    if (descents != 0) atomicAdd(&totals->descents, descents);
    if (row_ends != 0) atomicAdd(&totals->row_ends, row_ends);
}

/// The first row out of order: where there is one, to name it. `found` is all ones before.
__global__ void __launch_bounds__(block_threads)
    find_disorder(const __grid_constant__ csr_pattern b, unsigned long long* found) {
    constexpr int lanes = 8;
    const int lane = static_cast<int>(threadIdx.x) % lanes;
    const std::int64_t step = std::int64_t{gridDim.x} * (block_threads / lanes);
    for (std::int64_t row = (std::int64_t{blockIdx.x} * block_threads + threadIdx.x) / lanes;
         row < b.rows; row += step) {
        bool ascends = true;
        for (std::int64_t k = b.offsets[row] + lane; k + 1 < b.offsets[row + 1]; k += lanes)
            ascends = ascends && b.indices[k] < b.indices[k + 1];
        if (!ascends) atomicMin(found, static_cast<unsigned long long>(row));
    }
}

} // namespace krylith::cuda
