// A pass over the rows of a triangle in which each row waits for those that it depends on.
//
// A lane takes a chain (chain_starts.hpp), and goes through its rows one after the other, so that
// the lanes of the device together have a wide front: the lines of a grid move side by side. Chains
// are handed out by a ticket in the order of rows. A chain depends on itself and on chains before
// it only, so the lowest one that is not done can always go on, whatever blocks are running. No
// lane waits inside a step: a step looks once at what the lanes of the warp lack, and those whose
// entries are all known go on. So lanes of a warp may depend on each other.
//
// A row of more than `long_row` entries is taken by the 32 lanes together, 32 entries at a time.
#pragma once

#include <cstdint>

#include <krylith/device/cuda/warp.cuh>
#include <krylith/sparse/sptrsv/triangle_source.hpp>

namespace krylith::cuda {

inline constexpr std::int64_t long_row = 48;

/// The row that a lane is at.
struct row_place {
    std::int64_t row = 0;
    std::int64_t begin = 0;
    std::int64_t next = 0; ///< the first entry not taken yet
    std::int64_t end = 0;

    template <class T>
    __device__ void enter(const triangle_source<T>& a, std::int64_t place) {
        row = a.row_at(place);
        next = begin = a.offsets[row];
        end = a.offsets[row + 1];
    }
    /// Whether the warp takes the row together. It then does so to the row's end, however often it
    /// has to wait, so that the order of the sum is always the same.
    [[nodiscard]] __device__ bool needs_warp() const {
        return end - begin > long_row && next < end;
    }
    /// Where entry next + u lies.
    template <class T>
    [[nodiscard]] __device__ std::int64_t entry(const triangle_source<T>& a, int u) const {
        return a.from_outside(next + u, begin, end);
    }
};

/// The batch of entries that a lane waits for.
template <class Work, int Batch>
struct entry_batch {
    std::int32_t columns[Batch];
    typename Work::payload payloads[Batch];
    typename Work::word words[Batch];
    unsigned lacking = 0; ///< bit set: the word is not known yet
    unsigned counts = 0;  ///< bit set: the entry lies in the triangle

    /// Returns whether the row has no entries that count behind these.
    template <class T>
    __device__ bool load(const triangle_source<T>& a, Work& work, const row_place& at) {
        counts = 0;
#pragma unroll
        for (int u = 0; u < Batch; ++u) {
            columns[u] = -1;
            if (at.next + u < at.end) columns[u] = a.indices[at.entry(a, u)];
        }
        bool ends = at.next + Batch >= at.end;
#pragma unroll
        for (int u = 0; u < Batch; ++u) {
            if (columns[u] < 0) continue;
            ends = ends || a.ends(at.row, columns[u]);
            if (a.depends(at.row, columns[u])) counts |= 1u << u;
            if ((counts >> u & 1) != 0 || columns[u] == at.row)
                payloads[u] = work.load(at.entry(a, u));
        }
#pragma unroll
        for (int u = 0; u < Batch; ++u)
            if (columns[u] == at.row) work.pivot(payloads[u]);
        lacking = counts;
        return ends;
    }
    __device__ void look(const Work& work) {
#pragma unroll
        for (int u = 0; u < Batch; ++u)
            if ((lacking >> u & 1) != 0) words[u] = work.look(columns[u]);
#pragma unroll
        for (int u = 0; u < Batch; ++u)
            if ((lacking >> u & 1) != 0 && Work::known(words[u])) lacking &= ~(1u << u);
    }
    __device__ void take(Work& work) const {
#pragma unroll
        for (int u = 0; u < Batch; ++u)
            if ((counts >> u & 1) != 0) work.take(payloads[u], words[u]);
    }
};

/// Lets the warp take entries of the long row that lane `of` is at, as long as they are known.
template <class T, class Work>
__device__ inline void take_together(const triangle_source<T>& a, Work& work, int of,
                                     row_place& place) {
    row_place own; // of the whole warp
    own.row = __shfl_sync(all_lanes, place.row, of);
    own.begin = __shfl_sync(all_lanes, place.begin, of);
    own.end = __shfl_sync(all_lanes, place.end, of);
    own.next = __shfl_sync(all_lanes, place.next, of);
    while (own.next < own.end) {
        const bool there = own.next + lane_number() < own.end;
        const std::int64_t k = own.entry(a, lane_number());
        const std::int32_t column = there ? a.indices[k] : 0;
        const bool counts = there && a.depends(own.row, column);
        typename Work::word word{};
        typename Work::payload payload{};
        if (there) payload = work.load(k);
        if (counts) word = work.look(column);
        if (__any_sync(all_lanes, counts && !Work::known(word)) != 0) break;
        work.take_sum(of, counts, payload, word, there && column == own.row);
        own.next += 32;
        if (__any_sync(all_lanes, there && a.ends(own.row, column)) != 0) own.next = own.end;
    }
    if (lane_number() == of) place.next = own.next < own.end ? own.next : own.end;
}

/// One ticket of a warp: the lanes' chains. `work` is the lane's own.
template <int Batch, class T, class Work>
__device__ inline void sweep_chains(const triangle_source<T>& a, Work& work, std::int64_t first,
                                    std::int64_t last) {
    row_place place;
    entry_batch<Work, Batch> batch;
    bool done = first >= last;
    bool fresh = true; // whether the batch must be loaded
    bool ends = false; // whether it is the last one of its row
    if (!done) {
        place.enter(a, first);
        work.begin(place.row);
    }
    for (;;) {
        unsigned together = __ballot_sync(all_lanes, !done && fresh && place.needs_warp());
        while (together != 0) {
            const int of = __ffs(static_cast<int>(together)) - 1;
            together &= together - 1;
            take_together(a, work, of, place);
        }
        if (!done && !(fresh && place.needs_warp())) {
            if (fresh) ends = batch.load(a, work, place);
            fresh = false;
            batch.look(work);
            if (batch.lacking == 0) {
                batch.take(work);
                fresh = true;
                place.next += Batch;
                if (ends) {
                    work.finish(place.row);
                    done = ++first >= last;
                    if (!done) {
                        place.enter(a, first);
                        work.begin(place.row);
                    }
                }
            }
        }
        if (__all_sync(all_lanes, done) != 0) break;
    }
}

/// The whole pass of a warp. `ticket` is 0 before the first block comes.
template <int Batch, class T, class Work>
__device__ inline void sweep_rows(const triangle_source<T>& a, Work& work, unsigned* ticket,
                                  const std::int32_t* starts, std::int64_t chains) {
    for (;;) {
        unsigned number = 0;
        if (lane_number() == 0) number = atomicAdd(ticket, 1u);
        number = __shfl_sync(all_lanes, number, 0);
        const std::int64_t own = std::int64_t{number} * 32 + lane_number();
        if (std::int64_t{number} * 32 >= chains) return;
        const std::int64_t first = own < chains ? starts[own] : a.rows;
        const std::int64_t last = own + 1 < chains ? starts[own + 1] : a.rows;
        sweep_chains<Batch>(a, work, first, last);
    }
}

} // namespace krylith::cuda
