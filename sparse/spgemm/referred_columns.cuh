// All columns of the rows of B that one row of A refers to, handed out to the lanes of a block.
#pragma once

#include <cstdint>

#include <krylith/sparse/spgemm/column_tables.cuh>
#include <krylith/sparse/spgemm/short_rows.cuh>

namespace krylith::cuda {

/// A walk of one warp. A walk waits for the memory three times in a row - for what A refers to, for
/// where that lies, for its columns - so rows of B are looked up 32 at a time, and a lane loads
/// `flight` columns at once.
template <class Take>
class column_walk {
public:
    /// `width` lanes load a row of B: a power of two, 4 to 32. take(column of each lane) is called
    /// by all lanes together, no_key where there is none, and returns whether the walk goes on, the
    /// same on all lanes.
    __device__ column_walk(const csr_pattern& b, int width, Take take)
        : b_(b), width_(width), take_(take) {}

    /// The columns of the first `rows` of `from`; false where it ended early.
    [[nodiscard]] __device__ bool rows(const referred_rows<32>& from, int rows) {
        const int together = 32 / width_; // rows of B
        const int within = lane_number() % width_;
        for (int first = 0; first < rows; first += flight * together) {
            std::int64_t begin[flight];
            int length[flight];
            std::uint32_t column[flight];
            bool longer = false;
#pragma unroll
            for (int u = 0; u < flight; ++u) {
                const int row = first + u * together + lane_number() / width_;
                begin[u] = __shfl_sync(all_lanes, from.begin, row);
                length[u] = __shfl_sync(all_lanes, from.length, row);
                if (row >= rows) length[u] = 0;
                column[u] = column_at(begin[u], within, length[u]);
                longer = longer || length[u] > width_;
            }
            if (!take_all(column)) return false;
            if (!__any_sync(all_lanes, longer)) continue;
#pragma unroll
            for (int u = 0; u < flight; ++u) {
                const int longest = __reduce_max_sync(all_lanes, length[u]);
                for (int j = width_; j < longest; j += flight * width_) {
#pragma unroll
                    for (int v = 0; v < flight; ++v)
                        column[v] = column_at(begin[u], j + v * width_ + within, length[u]);
                    if (!take_all(column)) return false;
                }
            }
        }
        return true;
    }

private:
    static constexpr int flight = 4;

    [[nodiscard]] __device__ std::uint32_t column_at(std::int64_t begin, int at, int length) const {
        return at < length ? static_cast<std::uint32_t>(b_.indices[begin + at]) : no_key;
    }
    [[nodiscard]] __device__ bool take_all(const std::uint32_t (&column)[flight]) {
#pragma unroll
        for (int u = 0; u < flight; ++u)
            if (!take_(column[u])) return false;
        return true;
    }

    const csr_pattern& b_;
    int width_;
    Take take_;
};

/// The columns of a row of C, duplicates among them: the warps of a block share the entries of the
/// row of A. `width` and `take` are those of column_walk.
template <class Take>
__device__ inline void for_columns_of_row(const csr_pattern& a, const csr_pattern& b,
                                          std::int64_t row, int width, Take take) {
    const std::int64_t begin = a.offsets[row];
    const std::int64_t end = a.offsets[row + 1];
    const std::int64_t of_warp = (end - begin + block_warps - 1) / block_warps;
    const int part = static_cast<int>(of_warp < 32 ? of_warp : 32);
    column_walk<Take> walk(b, width, take);
    for (std::int64_t k = begin + threadIdx.x / 32 * part; k < end; k += block_warps * part) {
        const int rows = static_cast<int>(end - k < part ? end - k : part);
        const referred_rows<32> from(a, b.offsets, k + lane_number(), lane_number() < rows,
                                     lane_number());
        if (!walk.rows(from, rows)) return;
    }
}

} // namespace krylith::cuda
