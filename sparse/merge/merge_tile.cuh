// Products by merge path: each thread takes 7 items of the path, entries or ends of rows, from a
// tile in shared memory. Rows that lie in several threads, tiles or chunks are joined after that.
#pragma once

#include <climits>
#include <cstdint>

#include <krylith/sparse/merge/merge_chunks.cuh>

namespace krylith::cuda {

template <class T>
struct carry_shared {
    T warp_tail[block_warps];
    bool warp_ended[block_warps];
};

template <class T>
struct merge_shared {
    T slot[merge_tile_items]; ///< products, and behind them the sums of rows that end
    std::int32_t row_end[merge_tile_items + 1]; ///< in products of the tile
    carry_shared<T> carry;
};

/// The terms that are added up, and how: entries of A times x.
template <class T>
struct dense_terms {
    const T* x;

    [[nodiscard]] __device__ static T none() { return T(0); }
    [[nodiscard]] __device__ static T add(T a, T b) { return a + b; }
    /// The entries of a tile, at the place where loads.start() has left them.
    template <class Offset>
    __device__ void fill(const merge_loads<T, Offset>& loads, T* slot) const {
        const int me = static_cast<int>(threadIdx.x);
#pragma unroll
        for (int u = 0; u < merge_loads<T, Offset>::in_flight; ++u)
            if (loads.column[u] >= 0)
                slot[me + u * block_threads] = loads.value[u] * x[loads.column[u]];
    }
};

/// Returns the sum that earlier threads leave for this one: `tail` is the sum that is open after
/// its own items, `ended` whether a row ends in them; `before` enters the first thread, `after`
/// leaves the last. It has a barrier; another must come before the next call.
template <class Terms, class T>
__device__ inline T carry_into(T tail, bool ended, T before, T& after, carry_shared<T>& s) {
    const int lane = lane_number();
    const int warp = static_cast<int>(threadIdx.x / 32);
    const unsigned ends = __ballot_sync(all_lanes, ended);
    const unsigned earlier = ends & ((1u << lane) - 1);
    const unsigned so_far = ended ? earlier | 1u << lane : earlier;
    const int reach = lane - (so_far != 0 ? 31 - __clz(static_cast<int>(so_far)) : 0);
    tail = warp_scan(tail, reach, [](T before, T own) { return Terms::add(before, own); });
    if (lane == 31) {
        s.warp_tail[warp] = tail;
        s.warp_ended[warp] = ends != 0;
    }
    const T neighbour = __shfl_up_sync(all_lanes, tail, 1);
    __syncthreads();
    T into = before;
#pragma unroll
    for (int w = 0; w < block_warps; ++w) {
        if (w == warp) into = before;
        before = s.warp_ended[w] ? s.warp_tail[w] : Terms::add(before, s.warp_tail[w]);
    }
    after = before;
    if (lane == 0) return into;
    return earlier != 0 ? neighbour : Terms::add(into, neighbour);
}

/// Multiplies the block's chunks. `first` is its first tile, whose loads have been started. `rows`
/// is a row_epilogue, or has its before_reading(), before_writing() and row().
template <class T, class Offset, class Terms, class Rows>
__device__ inline void multiply_chunks(const merge_view<T, Offset>& m, Terms& terms,
                                       merge_shared<T>& s, merge_chunks& chunks, merge_step now,
                                       merge_loads<T, Offset>& loads, Rows& rows) {
    using loads_of = merge_loads<T, Offset>;
    const int me = static_cast<int>(threadIdx.x);
    T carry = Terms::none();               // sum of the open row in this chunk
    bool began_before = false;             // whether that row began before the chunk
    std::int32_t first_ended = none_ended; // the first row that ends in the chunk
    merge_step next = chunks.next(m);
    while (now.tile >= 0) {
        rows.before_reading(now.boundary);
        const int ended = now.end_row - now.row;
        const int entries = loads_of::entries(m, now);
        const std::int64_t start = loads_of::first(now);
        terms.fill(loads, s.slot);
        if (me < ended) s.row_end[me] = static_cast<std::int32_t>(loads.row_end - start);
        for (int i = me + block_threads; i < ended; i += block_threads)
            s.row_end[i] = static_cast<std::int32_t>(m.offsets[now.row + 1 + i] - start);
        if (me == 0) s.row_end[ended] = INT_MAX;
        if (now.opens) {
            began_before = m.offsets[now.row] < start;
            first_ended = none_ended;
            carry = Terms::none();
        }
        __syncthreads();
        loads.start(m, next);

        const int items = entries + ended;
        const int item = min(me * loads_of::in_flight, items);
        const int first_row = rows_ended(s.row_end, ended, item);
        int row = first_row;
        int k = item - row;
        int end = s.row_end[row];
        T sum = Terms::none();
#pragma unroll
        for (int u = 0; u < loads_of::in_flight; ++u) {
            if (item + u >= items) break;
            if (k < end) {
                sum = Terms::add(sum, s.slot[k++]);
            } else {
                s.slot[entries + row] = sum;
                sum = Terms::none();
                end = s.row_end[++row];
            }
        }
        const T into = carry_into<Terms>(sum, row != first_row, carry, carry, s.carry);
        if (row != first_row)
            s.slot[entries + first_row] = Terms::add(into, s.slot[entries + first_row]);
        __syncthreads();
        rows.before_writing();
        int i = me;
        if (me == 0 && ended != 0 && began_before && first_ended == none_ended) {
            m.edges.heads[m.chunk_of(now.tile)] = s.slot[entries];
            i += block_threads;
        }
        for (; i < ended; i += block_threads) rows.row(now.row + i, s.slot[entries + i]);
        if (ended != 0 && first_ended == none_ended)
            first_ended = began_before ? now.row : began_here;
        if (now.closes && me == 0) {
            m.edges.carries[m.chunk_of(now.tile)] = carry;
            m.edges.rows[m.chunk_of(now.tile)] = first_ended;
        }
        __syncthreads();
        now = next;
        next = chunks.next(m);
    }
}

/// Joins the rows that lie in several chunks; the last block calls it. Each thread takes a run of
/// chunks.
template <class Terms, class T, class Rows>
__device__ inline void join_chunks(const chunk_edges<T>& edges, int chunks, carry_shared<T>& s,
                                   Rows& rows) {
    rows.before_writing();
    const int run = (chunks + block_threads - 1) / block_threads;
    const int begin = min(static_cast<int>(threadIdx.x) * run, chunks);
    const int end = min(begin + run, chunks);
    T open = Terms::none();
    bool ended = false;
    for (int c = begin; c < end; ++c) {
        const bool ends = edges.rows[c] != none_ended;
        open = ends ? edges.carries[c] : Terms::add(open, edges.carries[c]);
        ended = ended || ends;
    }
    T after;
    open = carry_into<Terms>(open, ended, Terms::none(), after, s);
    for (int c = begin; c < end; ++c) {
        const std::int32_t row = edges.rows[c];
        if (row >= 0) rows.row(row, Terms::add(open, edges.heads[c]));
        open = row != none_ended ? edges.carries[c] : Terms::add(open, edges.carries[c]);
    }
}

} // namespace krylith::cuda
