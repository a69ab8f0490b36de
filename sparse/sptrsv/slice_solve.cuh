// Solves with slices in the order of levels: one kernel in which rows wait for words of others, and
// one for a single level, whose rows wait for nothing.
#pragma once

#include <cstdint>

#include <krylith/device/cuda/warp.cuh>
#include <krylith/sparse/sptrsv/exact_quotient.cuh>
#include <krylith/sparse/sptrsv/level_slices.hpp>
#include <krylith/sparse/sptrsv/solve_state.cuh>

namespace krylith::cuda {

/// Where a lane finds the entries of its row.
struct slice_lane {
    std::int64_t step = 0;
    int steps = 0;
    int lanes = 1;
    std::int64_t place = 0;
    bool leads = false; ///< whether the lane holds the row's b and stores its x

    __device__ slice_lane(const triangle_slice* heads, std::int64_t slice) {
        const triangle_slice head = heads[slice];
        const triangle_slice after = heads[slice + 1];
        const int lane = lane_number();
        step = head.step;
        steps = static_cast<int>(after.step - head.step);
        lanes = head.lanes;
        place = head.place + (lane >> (__ffs(lanes) - 1));
        leads = place < after.place && (lane & (lanes - 1)) == 0;
    }
};

/// The sums of the lanes of each row, known to all of them.
template <class T>
[[nodiscard]] __device__ inline T sum_over(T value, int lanes) {
    for (int by = lanes / 2; by > 0; by /= 2) value += __shfl_xor_sync(all_lanes, value, by);
    return value;
}

/// The row of a lane that leads: its sums begin with b.
template <class T, int Vectors>
struct solved_row {
    std::int64_t row = 0;
    T pivot = 1;
    T reciprocal = 1;
    T sums[Vectors] = {};

    __device__ void load(const triangle_slices<T>& a, const triangular_vectors<T>& v,
                         const slice_lane& lane) {
        if (!lane.leads) return;
        row = a.order != nullptr ? a.order[lane.place] : lane.place;
#pragma unroll
        for (int i = 0; i < Vectors; ++i) sums[i] = i < v.count ? v.b[row + i * v.b_stride] : T{0};
        if (a.pivots == nullptr) return;
        pivot = __ldcs(a.pivots + lane.place);
        reciprocal = T{1} / pivot;
    }
    [[nodiscard]] __device__ T result(const triangle_slices<T>& a, int i) const {
        return a.pivots == nullptr ? sums[i] : exact_quotient(sums[i], pivot, reciprocal);
    }
};

/// A batch of entries of a lane.
template <class T, int Vectors, int Batch>
struct slice_batch {
    std::int32_t columns[Batch];
    T values[Batch];
    T words[Batch][Vectors];
    unsigned lacking = 0;

    __device__ void load(const triangle_slices<T>& a, const slice_lane& lane, int from) {
        lacking = 0;
        const std::int64_t at = (lane.step + from) * 32 + lane_number();
#pragma unroll
        for (int u = 0; u < Batch; ++u) {
            columns[u] = -1;
            if (from + u < lane.steps) {
                columns[u] = __ldcs(a.columns + at + u * 32);
                values[u] = __ldcs(a.values + at + u * 32);
            }
        }
#pragma unroll
        for (int u = 0; u < Batch; ++u)
            if (columns[u] >= 0) lacking |= 1u << u;
    }
    template <word_scope Scope>
    __device__ void look(const T* known) {
#pragma unroll
        for (int u = 0; u < Batch; ++u)
            if ((lacking >> u & 1) != 0)
#pragma unroll
                for (int i = 0; i < Vectors; ++i)
                    words[u][i] = load_word<Scope>(known + std::int64_t{columns[u]} * Vectors + i);
#pragma unroll
        for (int u = 0; u < Batch; ++u) {
            bool all = true;
#pragma unroll
            for (int i = 0; i < Vectors; ++i) all = all && is_known(words[u][i]);
            if (all) lacking &= ~(1u << u);
        }
    }
    __device__ void take(T (&sums)[Vectors]) const {
#pragma unroll
        for (int u = 0; u < Batch; ++u)
            if (columns[u] >= 0)
#pragma unroll
                for (int i = 0; i < Vectors; ++i) sums[i] -= values[u] * words[u][i];
    }
};

template <word_scope Scope, class T, int Vectors>
__device__ inline void publish(const triangle_slices<T>& a, const triangular_vectors<T>& v,
                               const word_pair<T>& words, const slice_lane& lane,
                               const solved_row<T, Vectors>& row) {
    if (!lane.leads) return;
    T x[Vectors];
#pragma unroll
    for (int i = 0; i < Vectors; ++i) {
        x[i] = row.result(a, i);
        store_known<Scope>(words.own + lane.place * Vectors + i, x[i]);
    }
#pragma unroll
    for (int i = 0; i < Vectors; ++i) {
        store_unknown(words.next + lane.place * Vectors + i);
        if (i < v.count) v.x[row.row + i * v.x_stride] = x[i];
    }
}

/// A slice whose rows may wait for others, also for rows of the same slice if they have a lane
/// each. No lane waits inside a step, so all go on.
template <int Batch, int Vectors, word_scope Scope, class T>
__device__ inline void solve_slice(const triangle_slices<T>& a, const triangular_vectors<T>& v,
                                   const word_pair<T>& words, std::int64_t slice) {
    const slice_lane lane(a.heads, slice);
    slice_batch<T, Vectors, Batch> batch;
    batch.load(a, lane, 0);
    solved_row<T, Vectors> row;
    row.load(a, v, lane);
    int at = 0;
    bool done = false;
    for (;;) {
        if (!done) {
            batch.template look<Scope>(words.own);
            if (batch.lacking == 0) {
                batch.take(row.sums);
                at += Batch;
                done = at >= lane.steps;
                if (!done) batch.load(a, lane, at);
                if (done && lane.lanes == 1) publish<Scope>(a, v, words, lane, row);
            }
        }
        if (__all_sync(all_lanes, done) != 0) break;
    }
    if (lane.lanes == 1) return;
#pragma unroll
    for (int i = 0; i < Vectors; ++i) row.sums[i] = sum_over(row.sums[i], lane.lanes);
    publish<Scope>(a, v, words, lane, row);
}

/// A slice of which all that it depends on was stored by kernels before; columns are rows.
template <int Batch, int Vectors, class T>
__device__ inline void solve_independent_slice(const triangle_slices<T>& a,
                                               const triangular_vectors<T>& v, std::int64_t slice) {
    const slice_lane lane(a.heads, slice);
    solved_row<T, Vectors> row;
    row.load(a, v, lane);
    for (int at = 0; at < lane.steps; at += Batch) {
        slice_batch<T, Vectors, Batch> batch;
        batch.load(a, lane, at);
#pragma unroll
        for (int u = 0; u < Batch; ++u)
            if (batch.columns[u] >= 0)
#pragma unroll
                for (int i = 0; i < Vectors; ++i)
                    batch.words[u][i] = i < v.count ? v.x[batch.columns[u] + i * v.x_stride] : T{0};
        batch.take(row.sums);
    }
    if (lane.lanes != 1)
#pragma unroll
        for (int i = 0; i < Vectors; ++i) row.sums[i] = sum_over(row.sums[i], lane.lanes);
    if (!lane.leads) return;
#pragma unroll
    for (int i = 0; i < Vectors; ++i)
        if (i < v.count) v.x[row.row + i * v.x_stride] = row.result(a, i);
}

} // namespace krylith::cuda
