// Products by CSR5: a warp multiplies a tile, its lanes add up the entries that they have, and a
// segmented sum over the lanes joins the rows that lie in several of them. Sums of rows go through
// shared memory, so that their results are written side by side.
#pragma once

#include <cstdint>

#include <krylith/sparse/csr5/csr5_division.hpp>
#include <krylith/sparse/csr5/csr5_layout.hpp>
#include <krylith/sparse/merge/merge_tile.cuh>

namespace krylith::cuda {

template <class T>
struct csr5_view {
    const T* values;             ///< [nonzeros] in the order of tiles
    const std::int32_t* columns; ///< the same
    const std::int64_t* offsets; ///< [rows + 1] of CSR
    const std::uint32_t* tile_rows;
    const std::uint32_t* lanes;
    const std::uint32_t* empty_begin;
    const std::int32_t* empty_offsets;
    const std::int32_t* empty_rows;
    const std::int32_t* order; ///< the order of chunks, or null
    chunk_edges<T> edges;
    std::int64_t nonzeros;
    std::int64_t empty_count;
    csr5_division division;
    std::int32_t interior; ///< chunks in this order before the first of the boundary
};

/// What a part of a chunk leaves when its warp is done. Plain data in shared memory.
template <class T>
struct part_edges {
    T head[csr5_parts];             ///< of the row that it ends and that began before it
    T carry[csr5_parts];            ///< of the row that is open at its end
    std::int32_t ended[csr5_parts]; ///< the first row that it ends, began_here or none_ended
    bool begins[csr5_parts];        ///< the row that is open at its end began in it
};

template <class T, int Sigma>
struct csr5_shared {
    T slot[csr5_parts][csr5_omega * Sigma]; ///< the sums of the segments of a tile, for each warp
    part_edges<T> parts;
    carry_shared<T> carry;
};

/// The entries of a tile that a lane loads, and what describes them, in flight from memory.
template <class T, int Sigma>
struct csr5_loads {
    std::int32_t column[Sigma];
    T value[Sigma];
    std::uint32_t lane_word;
    std::uint32_t row;
    std::uint32_t next_row;
    std::uint32_t empty_begin;

    __device__ void start(const csr5_view<T>& m, std::int32_t tile) {
        if (tile < 0) return;
        constexpr std::int64_t entries = std::int64_t{csr5_omega} * Sigma;
        const int lane = lane_number();
        const std::int64_t first = tile * entries;
        row = m.tile_rows[tile];
        next_row = m.tile_rows[tile + 1];
        lane_word = load_once(m.lanes + std::int64_t{tile} * csr5_omega + lane);
        empty_begin = m.empty_begin[tile];
        if (first + entries <= m.nonzeros) {
#pragma unroll
            for (int j = 0; j < Sigma; ++j) {
                column[j] = load_once(m.columns + first + j * csr5_omega + lane);
                value[j] = load_once(m.values + first + j * csr5_omega + lane);
            }
        } else { // the order of CSR
            const std::int64_t mine = first + std::int64_t{lane} * Sigma;
#pragma unroll
            for (int j = 0; j < Sigma; ++j) {
                column[j] = mine + j < m.nonzeros ? m.columns[mine + j] : -1;
                value[j] = mine + j < m.nonzeros ? m.values[mine + j] : T(0);
            }
        }
    }

    /// Leaves the products in place of the values.
    __device__ void multiply(const T* x) {
        T of[Sigma];
#pragma unroll
        for (int j = 0; j < Sigma; ++j) of[j] = column[j] >= 0 ? x[column[j]] : T(0);
#pragma unroll
        for (int j = 0; j < Sigma; ++j) value[j] = column[j] >= 0 ? value[j] * of[j] : T(0);
    }
};

/// Adds up the segments of a tile from its products, and leaves the sums in `slot`, in their order;
/// a warp calls it. Returns the number of segments.
template <class T, int Sigma>
__device__ inline int add_segments(const csr5_loads<T, Sigma>& tile, T* slot) {
    const int lane = lane_number();
    const std::uint32_t flags = csr5_lane::flags(tile.lane_word);
    const int before = csr5_lane::y_offset(tile.lane_word);
    const int segments = __shfl_sync(all_lanes, before + __popc(flags), csr5_omega - 1);
    if (segments == 1) { // a row over the whole tile
        T sum = tile.value[0];
#pragma unroll
        for (int j = 1; j < Sigma; ++j) sum += tile.value[j];
        sum = warp_sum(sum);
        if (lane == 0) slot[0] = sum;
        __syncwarp();
        return 1;
    }
    int at = before - 1; // the segment that is open
    T sum = 0;
    T head = 0; // of the segment that is open where the lane begins
#pragma unroll
    for (int j = 0; j < Sigma; ++j) {
        if ((flags >> j & 1U) != 0) {
            if (at >= before)
                slot[at] = sum;
            else
                head = sum;
            ++at;
            sum = 0;
        }
        sum += tile.value[j];
    }
    if (flags == 0) head = sum;
    // What the lanes behind add to the segment that is open at the end of this one.
    T rest = __shfl_down_sync(all_lanes, head, 1);
    if (lane == csr5_omega - 1) rest = 0;
    const unsigned heads = __ballot_sync(all_lanes, flags != 0);
    if (heads != all_lanes) {
        const unsigned above = heads >> lane >> 1;
        int reach = csr5_lane::seg_offset(tile.lane_word);
        if (flags == 0)
            reach = above != 0 ? __ffs(static_cast<int>(above)) - 1 : csr5_omega - 1 - lane;
#pragma unroll
        for (int by = 1; by < csr5_omega; by *= 2) {
            const T behind = __shfl_down_sync(all_lanes, rest, by);
            if (by <= reach) rest += behind;
        }
    }
    if (flags != 0) slot[at] = sum + rest;
    __syncwarp();
    return segments;
}

/// Multiplies the tiles [tile, end) of a part, of which the first is loaded; a warp calls it.
/// Meanwhile it starts the loads of the next tile, after the last one those of tile `after`.
template <class T, int Sigma, class Rows>
__device__ inline void multiply_part(const csr5_view<T>& m, const T* x, csr5_loads<T, Sigma>& loads,
                                     std::int32_t tile, std::int32_t end, std::int32_t after,
                                     csr5_shared<T, Sigma>& s, Rows& rows) {
    const int lane = lane_number();
    const int warp = static_cast<int>(threadIdx.x / 32);
    T* const slot = s.slot[warp];
    T carry = 0;
    std::int32_t first_ended = none_ended;
    bool began_before = false;
    const bool has_tiles = tile < end;
    if (has_tiles) {
        constexpr std::int64_t entries = std::int64_t{csr5_omega} * Sigma;
        began_before = m.offsets[csr5_tile_row::row(loads.row)] < tile * entries;
    }
    for (; tile < end; ++tile) {
        loads.multiply(x);
        const int segments = add_segments(loads, slot);
        const std::int32_t row = csr5_tile_row::row(loads.row);
        const std::int32_t next_row = csr5_tile_row::row(loads.next_row);
        const std::int32_t* const row_of =
            csr5_tile_row::has_empty(loads.row) ? m.empty_offsets + loads.empty_begin : nullptr;
        loads.start(m, tile + 1 < end ? tile + 1 : after);
        const auto row_at = [&](int k) { return row + (row_of != nullptr ? row_of[k] : k); };
        const T last = slot[segments - 1];
        const bool goes_on = row_at(segments - 1) == next_row;
        const int ended = goes_on ? segments - 1 : segments;
        const bool leaves_head = ended != 0 && began_before && first_ended == none_ended;
        for (int k = lane; k < ended; k += csr5_omega) {
            const T sum = k == 0 ? carry + slot[0] : slot[k];
            if (k == 0 && leaves_head)
                s.parts.head[warp] = sum;
            else
                rows.row(row_at(k), sum);
        }
        if (ended != 0 && first_ended == none_ended) first_ended = began_before ? row : began_here;
        if (goes_on)
            carry = segments == 1 ? carry + last : last;
        else
            carry = 0;
        __syncwarp();
    }
    if (lane == 0) {
        s.parts.carry[warp] = carry;
        s.parts.ended[warp] = first_ended;
        s.parts.begins[warp] = first_ended != none_ended || (has_tiles && !began_before);
    }
}

/// Joins the rows that lie in several parts of a chunk, and leaves those that lie in several
/// chunks; warp 0 calls it, a lane for each part.
template <class T, class Rows>
__device__ inline void join_parts(const part_edges<T>& parts, const chunk_edges<T>& edges,
                                  std::int32_t chunk, Rows& rows) {
    const int lane = lane_number();
    const bool mine = lane < csr5_parts;
    T open = 0;
    bool began_here_too = false; // the row that is open where the lane's part begins
    for (int part = 0; part < csr5_parts; ++part) {
        if (part >= lane) break;
        open = parts.ended[part] != none_ended ? parts.carry[part] : open + parts.carry[part];
        began_here_too = began_here_too || parts.begins[part];
    }
    const std::int32_t ended = mine ? parts.ended[lane] : none_ended;
    const bool leaves = ended >= 0 && !began_here_too;
    if (leaves) {
        edges.heads[chunk] = open + parts.head[lane];
        edges.rows[chunk] = ended;
    } else if (ended >= 0) {
        rows.row(ended, open + parts.head[lane]);
    }
    const bool any_leaves = __any_sync(all_lanes, leaves) != 0;
    const bool any_ended = __any_sync(all_lanes, ended != none_ended) != 0;
    if (lane != csr5_parts) return; // it has gone through all parts
    edges.carries[chunk] = open;
    if (!any_leaves) edges.rows[chunk] = any_ended ? began_here : none_ended;
}

} // namespace krylith::cuda
