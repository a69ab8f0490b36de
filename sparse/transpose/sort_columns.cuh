// The last step of both ways that sort in shared memory: a block has the entries of a few thousand
// neighbouring columns, in the order of rows, and puts them in the order of columns.
#pragma once

#include <cstdint>

#include <krylith/device/cuda/warp.cuh>
#include <krylith/sparse/transpose/entry_rows.cuh>
#include <krylith/sparse/transpose/transpose_kernels.hpp>

namespace krylith::cuda {

/// Columns of more entries are sorted by warps that look through all entries of the block.
inline constexpr std::uint32_t long_column = 48;

/// Shared memory of a block: `sorted` has room for each entry, `ends` for each column.
struct column_sorter {
    std::uint32_t* ends;   ///< [columns]: counts, begins, then ends of columns
    std::uint16_t* sorted; ///< [entries] entries by column
    std::uint32_t* sums;   ///< [34]

    /// Zeros the counts. A barrier must follow.
    __device__ void clear(int columns) const {
        for (int c = static_cast<int>(threadIdx.x); c < columns; c += static_cast<int>(blockDim.x))
            ends[c] = 0;
        if (threadIdx.x == 0) sums[33] = 0;
    }
    __device__ void count(std::uint32_t column) const { atomicAdd(&ends[column], 1u); }

    /// Whether a column is long, once the begins are known.
    [[nodiscard]] __device__ bool any_long() const { return sums[33] != 0; }
    [[nodiscard]] __device__ std::uint32_t begin(int column) const {
        return column == 0 ? 0 : ends[column - 1];
    }

    /// Turns the counts of columns into their begins.
    __device__ void find_begins(int columns) const {
        const int warp = static_cast<int>(threadIdx.x) / 32;
        const int warps = static_cast<int>(blockDim.x) / 32;
        std::uint32_t before = 0;
        for (int first = 0; first < columns; first += static_cast<int>(blockDim.x)) {
            const int c = first + static_cast<int>(threadIdx.x);
            const std::uint32_t number = c < columns ? ends[c] : 0;
            if (number > long_column) sums[33] = 1;
            const std::uint32_t sum = warp_running_sum(number);
            if (lane_number() == 31) sums[warp] = sum;
            __syncthreads();
            if (warp == 0) {
                const std::uint32_t part = lane_number() < warps ? sums[lane_number()] : 0;
                const std::uint32_t so_far = warp_running_sum(part);
                __syncwarp();
                sums[lane_number()] = so_far - part;
                if (lane_number() == 31) sums[32] = so_far;
            }
            __syncthreads();
            if (c < columns) ends[c] = before + sums[warp] + sum - number;
            before += sums[32];
            __syncthreads();
        }
    }
};

/// Sorts and writes. `entry` has column(q) and put(place, q) for each entry q; the counts are
/// complete, and the block has synchronised. `offsets` are those of the block's first column.
template <class Entries>
__device__ inline void sort_columns(const column_sorter& m, const Entries& entry,
                                    std::uint32_t entries, int columns, std::int64_t first_entry,
                                    std::int64_t* offsets) {
    const auto threads = static_cast<int>(blockDim.x);
    m.find_begins(columns);
    for (int c = static_cast<int>(threadIdx.x); c < columns; c += threads)
        offsets[c] = first_entry + m.ends[c];
    __syncthreads();
    for (std::uint32_t q = threadIdx.x; q < entries; q += blockDim.x)
        m.sorted[atomicAdd(&m.ends[entry.column(q)], 1u)] = static_cast<std::uint16_t>(q);
    __syncthreads();
    // The entries of a column came in any order: each counts those that belong before it.
    for (std::uint32_t p = threadIdx.x; p < entries; p += blockDim.x) {
        const std::uint32_t q = m.sorted[p];
        const int c = static_cast<int>(entry.column(q));
        const std::uint32_t begin = m.begin(c);
        const std::uint32_t end = m.ends[c];
        if (end - begin > long_column) continue;
        std::uint32_t place = begin;
        for (std::uint32_t other = begin; other < end; ++other)
            place += m.sorted[other] < q ? 1 : 0;
        entry.put(first_entry + place, q);
    }
    if (!m.any_long()) return;
    for (int c = static_cast<int>(threadIdx.x) / 32; c < columns; c += threads / 32) {
        std::uint32_t place = m.begin(c);
        if (m.ends[c] - place <= long_column) continue;
        for (std::uint32_t first = 0; first < entries; first += 32) {
            const std::uint32_t q = first + lane_number();
            const bool mine = q < entries && static_cast<int>(entry.column(q)) == c;
            const unsigned matches = __ballot_sync(all_lanes, mine);
            if (mine) entry.put(first_entry + place + __popc(matches & lanes_below()), q);
            place += __popc(matches);
        }
    }
}

} // namespace krylith::cuda
