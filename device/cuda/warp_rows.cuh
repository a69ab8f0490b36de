// The entries of 32 CSR rows for the lanes of a warp, a row a lane.
#pragma once

#include <cstdint>

#include <krylith/device/cuda/warp.cuh>

namespace krylith::cuda {

/// Entries of 32 rows in shared memory, those of 8 lanes a row.
template <class V>
struct warp_rows {
    static constexpr int width = 8;
    static constexpr int rows_at_once = 4; ///< more need more registers than there are
    V entries[32][width + 1];              // without the last column lanes would meet in one bank
};

/// Calls take(v) for the entries of the lane's row, `length` from `begin` on, in their order. They
/// are loaded by 8 lanes a row, those of some rows at once: a lane that read its own row entry by
/// entry would share no sector of memory with its neighbours, and would wait for each. It pays
/// where rows have more entries than about 12.
///
/// load(at, rows, v) sets v[i] for entry at[i] of the row of lane rows[i], for i < rows_at_once,
/// where at[i] is not negative. It should load without branches: entry 0 instead of what is not
/// there. All lanes call it together.
template <class V, class Load, class Take>
__device__ void take_rows(warp_rows<V>& tile, std::int64_t begin, int length, const Load& load,
                          const Take& take) {
    constexpr int width = warp_rows<V>::width;
    constexpr int at_once = warp_rows<V>::rows_at_once;
    constexpr int groups = 32 / width;
    const int lane = lane_number();
    const int longest = __reduce_max_sync(all_lanes, length);
    for (int k = 0; k < longest; k += width) {
#pragma unroll
        for (int first = 0; first < width; first += at_once) {
            std::int64_t at[at_once];
            int rows[at_once];
#pragma unroll
            for (int i = 0; i < at_once; ++i) {
                rows[i] = (first + i) * groups + lane / width;
                const std::int64_t of_row = __shfl_sync(all_lanes, begin, rows[i]);
                const bool there = k + lane % width < __shfl_sync(all_lanes, length, rows[i]);
                at[i] = there ? of_row + k + lane % width : -1;
            }
            V v[at_once];
            load(at, rows, v);
#pragma unroll
            for (int i = 0; i < at_once; ++i) tile.entries[rows[i]][lane % width] = v[i];
        }
        __syncwarp();
        const int end = min(width, length - k);
#pragma unroll 1
        for (int i = 0; i < end; ++i) take(tile.entries[lane][i]);
        __syncwarp();
    }
}

} // namespace krylith::cuda
