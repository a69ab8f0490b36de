// The next entries of 32 CSR rows in shared memory.
#pragma once

#include <cstdint>
#include <limits>

#include <krylith/device/cuda/warp.cuh>

namespace krylith::cuda {

/// Entries [first, first + width) of each row of a warp, loaded by `width` lanes a row. A lane that
/// read its own row entry by entry would share no sector of memory with its neighbours, and would
/// wait for each entry.
template <class V>
struct row_tile {
    static constexpr int width = 8;
    V entries[32][width + 1]; // without the last column lanes would meet in one bank
};

/// The rows of a warp, a row a lane, read in about the same order by all lanes.
template <class V>
class tiled_rows {
public:
    /// `own` are the entries of the lane's row.
    __device__ tiled_rows(row_tile<V>& tile, const V* own, std::int32_t length)
        : tile_(tile), own_(own), length_(length) {}

    /// Entry i of the lane's row for lanes that want one; 0 for others. All lanes call it together.
    [[nodiscard]] __device__ V entry(std::int32_t i, bool wanted) {
        constexpr int width = row_tile<V>::width;
        if (__any_sync(all_lanes, wanted && (i < first_ || i >= first_ + width)))
            load(__reduce_min_sync(all_lanes,
                                   wanted ? i : std::numeric_limits<std::int32_t>::max()));
        if (!wanted) return V(0);
        // Lanes that are far ahead of others read memory.
        return i < first_ + width ? tile_.entries[lane_number()][i - first_] : own_[i];
    }

    /// Loads entries [first, first + width) of all rows, for loaded(); 0 beyond the end of a row.
    __device__ void load(std::int32_t first) {
        constexpr int width = row_tile<V>::width;
        first_ = first;
        const auto address = reinterpret_cast<std::uint64_t>(own_);
        const std::int32_t within = first + lane_number() % width;
        V loaded[width];
#pragma unroll
        for (int k = 0; k < width; ++k) {
            const int row = k * (32 / width) + lane_number() / width;
            const auto* const from =
                reinterpret_cast<const V*>(__shfl_sync(all_lanes, address, row));
            const bool there = within < __shfl_sync(all_lanes, length_, row);
            loaded[k] = there ? from[within] : V(0);
        }
        __syncwarp(); // all lanes have read what the tile held
#pragma unroll
        for (int k = 0; k < width; ++k)
            tile_.entries[k * (32 / width) + lane_number() / width][lane_number() % width] =
                loaded[k];
        __syncwarp();
    }
    /// Entry `within` of those of the lane's row that are loaded.
    [[nodiscard]] __device__ V loaded(std::int32_t within) const {
        return tile_.entries[lane_number()][within];
    }

private:
    row_tile<V>& tile_;
    const V* own_;
    std::int32_t length_;
    std::int32_t first_ = -row_tile<V>::width; ///< nothing is loaded
};

} // namespace krylith::cuda
