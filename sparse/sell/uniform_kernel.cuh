// The product of matrices whose slices are mostly uniform and diagonal (sell_view.hpp), as those of
// stencils are.
//
// A warp multiplies several slices at once where they have the same diagonals and values, so that
// it loads each of these once for all: from the first-level cache a warp reads 9 lines for 4
// entries of a lane instead of 12. CG on 256^3 rows with 27 points takes 578 us in place of 705,
// with 7 points 471 in place of 476 (one H200).
#pragma once

#include <cstdint>

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/sparse/epilogue/row_epilogue.cuh>
#include <krylith/sparse/sell/sell_slices.cuh>

namespace krylith::cuda {

/// The slices that a warp multiplies at once. Two take 636 us of the 578 above.
inline constexpr int slices_together = 4;

/// Adds up `Entries` entries of each row, of which the first `rest` are there.
template <int Entries, int Rows, class T>
__device__ inline void add_uniform_to_all(T (&sum)[Rows], const uniform_entry<T>* entry, const T* x,
                                          const std::int32_t (&row)[Rows], std::uint32_t lane_bit,
                                          std::int32_t rest) {
    T value[Entries];
    T factor[Rows][Entries];
#pragma unroll
    for (int u = 0; u < Entries; ++u) {
        value[u] = T(0);
#pragma unroll
        for (int r = 0; r < Rows; ++r) factor[r][u] = T(0);
        if (u >= rest) continue;
        const uniform_entry<T> e = load_entry(entry + u);
        value[u] = e.value;
        if ((e.step.lanes & lane_bit) == 0) continue;
#pragma unroll
        for (int r = 0; r < Rows; ++r) factor[r][u] = x[row[r] + e.step.base];
    }
#pragma unroll
    for (int u = 0; u < Entries; ++u)
#pragma unroll
        for (int r = 0; r < Rows; ++r) sum[r] += value[u] * factor[r][u];
}

/// A block takes `slices_together` groups of slices at a time, a warp one slice of each.
template <class T, int Dots, bool Shared>
__global__ void __launch_bounds__(block_threads, sizeof(T) == 8 ? 3 : 2)
    uniform_kernel(const __grid_constant__ compact_context parameter,
                   const __grid_constant__ spmv_operands<T> a,
                   const __grid_constant__ sell_view<T> m) {
    constexpr int together = slices_together;
    constexpr int in_flight = 3; // of each slice
    __shared__ context_state state;
    const int warp = static_cast<int>(threadIdx.x / 32);
    const int lane = static_cast<int>(threadIdx.x & 31);
    const std::uint32_t lane_bit = std::uint32_t{1} << lane;
    const auto slice_of = [&](std::int32_t position, int s) {
        const std::int32_t t = position + s;
        if (t >= m.groups) return m.slices;
        return (m.order != nullptr ? m.order[t] : t) * block_warps + warp;
    };
    // In double the registers would spill.
    const bool early = sizeof(T) == 4 && a.map.count == 0 && a.put.targets == nullptr;
    const auto stride = static_cast<std::int32_t>(gridDim.x) * together;
    auto position = static_cast<std::int32_t>(blockIdx.x) * together;
    // The heads of the next slices are loaded one iteration ahead: the loads of rows depend on
    // them.
    slice_head next[together];
    const auto look_up = [&](std::int32_t from) {
#pragma unroll
        for (int s = 0; s < together; ++s) {
            const std::int32_t slice = slice_of(from, s);
            next[s] = slice < m.slices ? load_head(m.heads + slice)
                                       : slice_head{0, 0, slice_shape(0, column_code::wide), 0};
        }
    };
    look_up(position);
    if (!product_prologue<Shared>(parameter, state, a)) return;
    row_epilogue<T, Dots, Shared> results(state.context, a);
    while (position < m.groups) {
        results.before_reading(position + together > m.interior);
        const slice_head head = next[0];
        bool alike = head.values() == value_code::uniform && head.code() == column_code::diagonal;
        std::int32_t row[together];
#pragma unroll
        for (int s = 0; s < together; ++s) {
            alike = alike && next[s].read == head.read && next[s].shape == head.shape;
            const std::int32_t slice = slice_of(position, s);
            row[s] = slice < m.slices ? row_at(m, std::int64_t{slice} * slice_rows + lane) : -1;
        }
        const std::int32_t here = position;
        position += stride;
        look_up(position);
        // Each row's y would otherwise be waited for by itself, after the sums.
        T earlier[together];
#pragma unroll
        for (int s = 0; s < together; ++s)
            earlier[s] = early && row[s] >= 0 ? results.earlier(row[s]) : T(0);
        T sum[together] = {};
        if (alike) {
            const uniform_entry<T>* entry = m.uniform + head.read;
            std::int32_t rest = head.length();
            for (; rest >= in_flight; rest -= in_flight, entry += in_flight)
                add_uniform_to_all<in_flight>(sum, entry, a.x, row, lane_bit, in_flight);
            if (rest > 0) add_uniform_to_all<in_flight>(sum, entry, a.x, row, lane_bit, rest);
        } else {
#pragma unroll
            for (int s = 0; s < together; ++s) {
                const std::int32_t slice = slice_of(here, s);
                if (slice < m.slices) sum[s] = product_alone(m, slice, row[s], a.x, lane);
            }
        }
        results.before_writing();
#pragma unroll
        for (int s = 0; s < together; ++s) {
            if (row[s] < 0) continue;
            if (early)
                results.row(row[s], sum[s], earlier[s]);
            else
                results.row(row[s], sum[s]);
        }
    }
    results.leave();
}

} // namespace krylith::cuda
