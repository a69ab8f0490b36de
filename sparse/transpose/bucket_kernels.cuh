// Transposition of patterns with few columns and nonzeros, whatever their order: two passes over
// the nonzeros instead of one for each 8 bits of columns.
//
//   count_buckets   a block counts its nonzeros in each bucket of columns
//   scan            where each block's nonzeros of each bucket go
//   fill_buckets    each block brings them there, in their order
//   sort_buckets    a block a bucket sorts it in shared memory and writes the result
//
// Bytes a nonzero, fp64: 4 read; 12 read and 14 written; 14 read and 12 written: 56.
#pragma once

#include <cstdint>
#include <type_traits>

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/cuda/warp.cuh>
#include <krylith/sparse/transpose/column_buckets.hpp>
#include <krylith/sparse/transpose/entry_rows.cuh>
#include <krylith/sparse/transpose/sort_columns.cuh>
#include <krylith/sparse/transpose/transpose_ways.hpp>

namespace krylith::cuda {

inline constexpr int bucket_threads = 512;
inline constexpr int bucket_warps = bucket_threads / 32;
inline constexpr int warp_entries = column_buckets::block_entries / bucket_warps;

/// Arrays on the device.
struct bucket_counts {
    std::int32_t* counts; ///< [buckets * blocks], by bucket
    std::int32_t* begins; ///< [buckets * blocks + 1], the running sums of these
};

/// Arrays on the device. A load is what moves with an entry: its value, or its position.
template <class Load>
struct bucket_arrays {
    column_buckets cut;
    bucket_counts numbers;
    std::int32_t* rows;     ///< [nonzeros]
    std::uint16_t* columns; ///< [nonzeros], from the bucket's first
    Load* loads;            ///< [nonzeros]

    [[nodiscard]] __device__ std::int32_t begin(int bucket) const {
        return numbers.begins[std::int64_t{bucket} * cut.blocks];
    }
};

__global__ void __launch_bounds__(bucket_threads)
    count_buckets(const __grid_constant__ csr_pattern a, const __grid_constant__ column_buckets cut,
                  bucket_counts to, const unsigned* unless) {
    if (unless != nullptr && *unless == 0) return;
    __shared__ std::int32_t counts[column_buckets::most_buckets];
    for (int b = static_cast<int>(threadIdx.x); b < cut.buckets; b += bucket_threads) counts[b] = 0;
    __syncthreads();
    const std::int64_t first = std::int64_t{blockIdx.x} * column_buckets::block_entries;
    const std::int64_t end = min(first + column_buckets::block_entries, a.nonzeros);
#pragma unroll 8
    for (std::int64_t k = first + threadIdx.x; k < end; k += bucket_threads)
        atomicAdd(&counts[__ldg(a.indices + k) >> cut.bits], 1);
    __syncthreads();
    for (int b = static_cast<int>(threadIdx.x); b < cut.buckets; b += bucket_threads)
        to.counts[std::int64_t{b} * cut.blocks + blockIdx.x] = counts[b];
}

/// The counts for two_pass_scan.cuh.
struct bucket_sizes {
    const std::int32_t* counts;
    std::int32_t* begins;
    std::uint32_t number;
    const unsigned* unless;

    struct item {
        std::int32_t size = 0;
    };
    [[nodiscard]] __device__ std::uint32_t count() const {
        return unless != nullptr && *unless == 0 ? 0 : number;
    }
    [[nodiscard]] __device__ item load(std::uint32_t i) const { return {counts[i]}; }
    __device__ void emit(bool there, std::uint32_t i, const item&, std::int32_t before) const {
        if (there) begins[i] = before;
    }
    __device__ void finish(std::int32_t total) const { begins[number] = total; }
};

/// Shared memory of fill_buckets.
struct fill_memory {
    std::uint16_t counts[bucket_warps]
                        [column_buckets::most_buckets]; ///< then what warps before have
    std::uint16_t order[column_buckets::block_entries]; ///< entries by bucket
    std::int32_t rows[column_buckets::block_entries];
    std::int32_t
        moves[column_buckets::most_buckets]; ///< from places in `order` to those of the result
    std::uint32_t sums[34];
};

template <class T, class Load>
__global__ void __launch_bounds__(bucket_threads)
    fill_buckets(const __grid_constant__ csr_pattern a, const T* values,
                 const __grid_constant__ bucket_arrays<Load> to) {
    extern __shared__ std::uint32_t memory[];
    auto& m = *reinterpret_cast<fill_memory*>(memory);
    const int lane = lane_number();
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const std::int64_t first = std::int64_t{blockIdx.x} * column_buckets::block_entries;
    const auto entries =
        static_cast<int>(min(std::int64_t{column_buckets::block_entries}, a.nonzeros - first));
    const int begin = warp * warp_entries;
    const int end = min(begin + warp_entries, entries);
    for (int b = lane; b < to.cut.buckets; b += 32) m.counts[warp][b] = 0;
    if (begin < end) {
        std::int64_t row = row_at(a.offsets, a.rows, first + begin);
        for (int k = begin; k < end; row += 32) {
            const row_group group = row_group::load(a.offsets, row, a.rows, first);
            if (group.end <= first + k) { // 32 empty rows, perhaps many more
                row = row_at(a.offsets, a.rows, first + k) - 32;
                continue;
            }
            const auto last = static_cast<int>(min(group.end - first, std::int64_t{end}));
            for (; k < last; k += 32) {
                const int in_group = group.row_of(k);
                if (k + lane < last) m.rows[k + lane] = static_cast<std::int32_t>(row) + in_group;
            }
            k = last;
        }
    }
    __syncwarp();
    // The places of entries among those of the warp and bucket.
    constexpr int steps = warp_entries / 32;
    std::uint16_t place[steps];
    std::uint16_t bucket[steps];
#pragma unroll
    for (int s = 0; s < steps; ++s) {
        const int q = begin + 32 * s + lane;
        bucket[s] = q < end
                        ? static_cast<std::uint16_t>(__ldg(a.indices + first + q) >> to.cut.bits)
                        : std::uint16_t{0xffff};
    }
#pragma unroll
    for (int s = 0; s < steps; ++s) {
        const bool there = bucket[s] != 0xffff;
        const unsigned same = __match_any_sync(all_lanes, bucket[s]);
        const unsigned before = there ? m.counts[warp][bucket[s]] : 0;
        place[s] = static_cast<std::uint16_t>(before + __popc(same & lanes_below()));
        __syncwarp();
        if (there && (same & lanes_below()) == 0)
            m.counts[warp][bucket[s]] = static_cast<std::uint16_t>(before + __popc(same));
        __syncwarp();
    }
    __syncthreads();
    // Begins of buckets in the block's order.
    std::uint32_t before_all = 0;
    for (int b0 = 0; b0 < to.cut.buckets; b0 += bucket_threads) {
        const int b = b0 + static_cast<int>(threadIdx.x);
        std::uint32_t number = 0;
        if (b < to.cut.buckets)
            for (int w = 0; w < bucket_warps; ++w) {
                const std::uint32_t here = m.counts[w][b];
                m.counts[w][b] = static_cast<std::uint16_t>(number);
                number += here;
            }
        const std::uint32_t sum = warp_running_sum(number);
        if (lane == 31) m.sums[warp] = sum;
        __syncthreads();
        std::uint32_t before = before_all;
        for (int w = 0; w < bucket_warps; ++w) {
            if (w < warp) before += m.sums[w];
            before_all += m.sums[w];
        }
        before += sum - number;
        if (b < to.cut.buckets) {
            for (int w = 0; w < bucket_warps; ++w)
                m.counts[w][b] = static_cast<std::uint16_t>(m.counts[w][b] + before);
            m.moves[b] = to.numbers.begins[std::int64_t{b} * to.cut.blocks + blockIdx.x] -
                         static_cast<std::int32_t>(before);
        }
        __syncthreads();
    }
#pragma unroll
    for (int s = 0; s < steps; ++s)
        if (bucket[s] != 0xffff)
            m.order[m.counts[warp][bucket[s]] + place[s]] =
                static_cast<std::uint16_t>(begin + 32 * s + lane);
    __syncthreads();
    constexpr int in_flight = 8; // loads of a step are all issued before its stores
    for (int step = static_cast<int>(threadIdx.x); step < entries;
         step += in_flight * bucket_threads) {
        int from[in_flight];
        std::int32_t column[in_flight];
        Load load[in_flight];
#pragma unroll
        for (int u = 0; u < in_flight; ++u) {
            from[u] = m.order[min(step + u * bucket_threads, entries - 1)];
            column[u] = __ldg(a.indices + first + from[u]);
            if constexpr (std::is_same_v<T, void>)
                load[u] = static_cast<Load>(first + from[u]);
            else
                load[u] = __ldg(values + first + from[u]);
        }
#pragma unroll
        for (int u = 0; u < in_flight; ++u) {
            const int p = step + u * bucket_threads;
            if (p >= entries) continue;
            const std::int32_t at = m.moves[column[u] >> to.cut.bits] + p;
            to.rows[at] = m.rows[from[u]];
            to.columns[at] = static_cast<std::uint16_t>(column[u] & (to.cut.columns() - 1));
            to.loads[at] = load[u];
        }
    }
}

/// The entries of a bucket for sort_columns().
template <class Load>
struct bucket_entries {
    const std::uint16_t* columns;
    const std::int32_t* rows;
    const Load* loads;
    std::int32_t* to_rows;
    Load* to_loads;

    [[nodiscard]] __device__ std::uint32_t column(std::uint32_t q) const {
        return __ldg(columns + q);
    }
    struct item {
        std::int32_t row;
        Load load;
    };
    [[nodiscard]] __device__ item load(std::uint32_t q) const {
        return {__ldg(rows + q), __ldg(loads + q)};
    }
    __device__ void store(std::int64_t place, const item& one) const {
        to_rows[place] = one.row;
        to_loads[place] = one.load;
    }
};

/// Shared memory: capacity places of 2 bytes, then 4 bytes a column, then the sums.
[[nodiscard]] inline std::size_t bucket_sort_bytes(const column_buckets& cut,
                                                   std::int64_t largest) {
    return static_cast<std::size_t>((largest + 1) / 2 * 4 + cut.columns() * 4 + 34 * 4);
}

template <class Load>
__global__ void __launch_bounds__(bucket_threads)
    sort_buckets(const __grid_constant__ bucket_arrays<Load> from, std::int64_t columns,
                 std::int64_t* offsets, std::int32_t* rows, Load* loads) {
    extern __shared__ std::uint32_t memory[];
    const auto bucket = static_cast<int>(blockIdx.x);
    const std::int64_t first_column = bucket * from.cut.columns();
    const auto mine = static_cast<int>(min(from.cut.columns(), columns - first_column));
    const std::int32_t begin = from.begin(bucket);
    const auto entries = static_cast<std::uint32_t>(from.begin(bucket + 1) - begin);
    const column_sorter sorter{
        memory + 34, reinterpret_cast<std::uint16_t*>(memory + 34 + from.cut.columns()), memory};
    sorter.clear(mine);
    __syncthreads();
    const bucket_entries<Load> source{from.columns + begin, from.rows + begin, from.loads + begin,
                                      rows, loads};
    for (std::uint32_t q = threadIdx.x; q < entries; q += bucket_threads)
        sorter.count(source.column(q));
    __syncthreads();
    sort_columns(sorter, source, entries, mine, begin, offsets + first_column);
    if (bucket == from.cut.buckets - 1 && threadIdx.x == 0)
        offsets[columns] = begin + static_cast<std::int64_t>(entries);
}

/// Finds the most entries of a bucket.
__global__ void __launch_bounds__(column_buckets::most_buckets)
    find_largest_bucket(const __grid_constant__ column_buckets cut, bucket_counts of,
                        unsigned* largest, const unsigned* unless) {
    if (unless != nullptr && *unless == 0) return;
    const auto b = static_cast<std::int64_t>(threadIdx.x);
    if (b < cut.buckets)
        atomicMax(largest, static_cast<unsigned>(of.begins[(b + 1) * cut.blocks] -
                                                 of.begins[b * cut.blocks]));
}

} // namespace krylith::cuda
