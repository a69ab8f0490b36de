// The numeric phase for factors of dense blocks: a warp adds up some blocks of a row of blocks of C
// in shared memory. It finds the place of a block of B by binary search, once for all its rows and
// those of A, and a lane adds up a column of it.
#pragma once

#include <cstdint>

#include <krylith/sparse/spgemm/dense_blocks.hpp>
#include <krylith/sparse/spgemm/searched_sums.cuh>

namespace krylith::cuda {

/// A factor: the pattern of its blocks, and the values of the matrix itself.
template <class T>
struct block_factor {
    csr_pattern blocks;
    const T* values;
};

/// Blocks of A whose values are staged at once.
inline constexpr int staged_blocks = 8;

/// What a warp holds: sums[rows of a block][chunk][columns of a block], the columns of the chunk's
/// blocks, and staged values of A [rows of a block][staged_blocks][inner].
template <class T>
struct block_memory {
    T* sums;
    T* factors;
    std::int32_t* columns;

    __device__ block_memory(unsigned char* shared, const block_sizes& size, int chunk) {
        sums = reinterpret_cast<T*>(shared + static_cast<std::size_t>(threadIdx.x / 32) *
                                                 bytes(size, chunk));
        factors = sums + size.rows * chunk * size.columns;
        columns = reinterpret_cast<std::int32_t*>(factors + size.rows * staged_blocks * size.inner);
    }
    /// Of a warp: a multiple of 16.
    [[nodiscard]] static KRYLITH_HD std::size_t bytes(const block_sizes& size, int chunk) {
        const int numbers = size.rows * (chunk * size.columns + staged_blocks * size.inner);
        const auto exact = static_cast<std::size_t>(numbers) * sizeof(T) +
                           static_cast<std::size_t>(chunk) * sizeof(std::int32_t);
        return (exact + 15) / 16 * 16;
    }
};

/// The blocks of a chunk that a warp adds up: as many as keep its memory at some 6 KB.
template <class T>
[[nodiscard]] int block_chunk(const block_sizes& size) {
    constexpr int sums_bytes = 6144;
    const int fit = sums_bytes / (size.rows * size.columns * static_cast<int>(sizeof(T)));
    return fit < 8 ? 8 : fit > search_chunk ? search_chunk : fit;
}

/// `Rows` and `Inner` are those of `sizes`, or 0: known at run time alone. `offsets` are those of
/// the blocks of C, `indices` those of its entries.
template <int Rows, int Inner, class T>
__global__ void __launch_bounds__(block_threads)
    dense_block_sums(const __grid_constant__ block_factor<T> a,
                     const __grid_constant__ block_factor<T> b, const block_sizes sizes,
                     const chunk_list list, int chunk, const std::int64_t* offsets,
                     const std::int32_t* indices, T* values, unsigned long long* next) {
    extern __shared__ __align__(16) unsigned char shared[];
    const block_memory<T> mine(shared, sizes, chunk);
    const int block_rows = Rows != 0 ? Rows : sizes.rows;
    const int inner = Inner != 0 ? Inner : sizes.inner;
    const int width = sizes.columns;
    const int lane = lane_number();
    for (;;) {
        unsigned long long taken = 0;
        if (lane == 0) taken = atomicAdd(next, 1ull);
        const auto task = static_cast<std::int64_t>(__shfl_sync(all_lanes, taken, 0));
        if (task >= list.chunks) return;
        const std::int64_t item = item_of_chunk(list, task);
        const std::int64_t row = list.rows.rows != nullptr ? list.rows.rows[item] : item;
        const auto skipped = static_cast<int>(task - list.chunks_at[item]) * chunk;
        const auto results = static_cast<int>(offsets[row + 1] - offsets[row]);
        const int count = min(chunk, results - skipped);
        // Row i of the chunk's blocks lies i * results * width entries further.
        const std::int64_t first =
            offsets[row] * block_rows * width + std::int64_t{skipped} * width;
        for (int i = lane; i < block_rows * chunk * width; i += 32) mine.sums[i] = T{0};
        for (int i = lane; i < count; i += 32)
            mine.columns[i] = indices[first + std::int64_t{i} * width] / width;
        __syncwarp();
        const std::int32_t low = mine.columns[0];
        const std::int64_t high = std::int64_t{mine.columns[count - 1]} + 1;
        const std::int64_t a_begin = a.blocks.offsets[row];
        const auto a_count = static_cast<int>(a.blocks.offsets[row + 1] - a_begin);
        for (int k = 0; k < a_count; k += staged_blocks) {
            const int staged = min(staged_blocks, a_count - k);
            std::int64_t b_begin = 0; // of the row of blocks of B
            int b_count = 0;          // its blocks
            int b_skip = 0;           // those before the chunk
            int b_some = 0;           // those in it
            if (lane < staged) {
                const std::int32_t number = a.blocks.indices[a_begin + k + lane];
                b_begin = b.blocks.offsets[number];
                const std::int64_t end = b.blocks.offsets[number + 1];
                b_count = static_cast<int>(end - b_begin);
                b_some = b_count;
                if (count != results) {
                    const std::int64_t from = lower_bound_of(b.blocks.indices, b_begin, end, low);
                    b_skip = static_cast<int>(from - b_begin);
                    b_some =
                        static_cast<int>(lower_bound_of(b.blocks.indices, from, end, high) - from);
                }
            }
            for (int x = lane; x < block_rows * staged * inner; x += 32) {
                const int i = x / (staged * inner);
                const int rest = x - i * (staged * inner);
                mine.factors[i * (staged_blocks * inner) + rest] =
                    a.values[a_begin * block_rows * inner +
                             (std::int64_t{i} * a_count + k) * inner + rest];
            }
            __syncwarp();
            for (unsigned left = __ballot_sync(all_lanes, b_some != 0); left != 0;
                 left &= left - 1) {
                const int of = __ffs(static_cast<int>(left)) - 1;
                const std::int64_t begin = __shfl_sync(all_lanes, b_begin, of);
                const int length = __shfl_sync(all_lanes, b_count, of);
                const int skip = __shfl_sync(all_lanes, b_skip, of);
                const int some = __shfl_sync(all_lanes, b_some, of);
                const T* const factors = mine.factors + of * inner;
                for (int e = lane; e < some * width; e += 32) {
                    const int block = e / width;
                    const T* const from = b.values + begin * inner * width + skip * width + e;
                    const std::int64_t b_stride = std::int64_t{length} * width;
                    const std::int32_t column = b.blocks.indices[begin + skip + block];
                    if constexpr (Rows != 0) {
                        T value[Inner];
#pragma unroll
                        for (int j = 0; j < Inner; ++j) value[j] = from[j * b_stride];
                        T* const sums = mine.sums +
                                        place_among(mine.columns, count, column) * width +
                                        (e - block * width);
#pragma unroll
                        for (int i = 0; i < Rows; ++i) {
                            T sum = sums[i * chunk * width];
#pragma unroll
                            for (int j = 0; j < Inner; ++j)
                                sum = add_product(factors[i * (staged_blocks * Inner) + j],
                                                  value[j], sum);
                            sums[i * chunk * width] = sum;
                        }
                    } else {
                        T* const sums = mine.sums +
                                        place_among(mine.columns, count, column) * width +
                                        (e - block * width);
                        for (int j = 0; j < inner; ++j) {
                            const T value = from[j * b_stride];
                            for (int i = 0; i < block_rows; ++i) {
                                T& sum = sums[i * chunk * width];
                                sum = add_product(factors[i * (staged_blocks * inner) + j], value,
                                                  sum);
                            }
                        }
                    }
                }
                __syncwarp();
            }
            __syncwarp();
        }
        for (int i = 0; i < block_rows; ++i)
            for (int x = lane; x < count * width; x += 32)
                values[first + std::int64_t{i} * results * width + x] =
                    mine.sums[i * chunk * width + x];
        __syncwarp();
    }
}

} // namespace krylith::cuda
