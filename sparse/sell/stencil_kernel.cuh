// The product of matrices whose slices are mostly uniform and diagonal (sell_view.hpp) and lie in
// natural order, as those of stencils do.
//
// A lane takes 16 bytes of consecutive rows and a warp as many slices, which have the same
// diagonals. All entries of a row of 7 are then in flight at once for 128 rows of fp32, where one
// row a lane has a quarter of that under way, and waits as long. CG with amg on 256^3 rows
// takes 34.5 ms in place of 39.7, CG alone 455 us an iteration in place of 470; with 27 points CG
// with amg takes 35.6 ms in place of 38.1, but CG alone, in fp64, 681 us in place of 580 (one
// H200). Three blocks on an SM spill registers: 460 us, and 39.2 ms with amg.
#pragma once

#include <cstdint>

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/sparse/epilogue/row_epilogue.cuh>
#include <krylith/sparse/sell/sell_slices.cuh>

namespace krylith::cuda {

/// Loads consecutive entries, in one word where they lie so: all lanes of a warp do or none.
template <int Rows, class T>
__device__ inline void load_rows(T (&to)[Rows], const T* from) {
    if ((reinterpret_cast<std::uintptr_t>(from) & 15) == 0) {
        const row_word<T> word = *reinterpret_cast<const row_word<T>*>(from);
#pragma unroll
        for (int j = 0; j < Rows; ++j) to[j] = word.at[j];
    } else {
#pragma unroll
        for (int j = 0; j < Rows; ++j) to[j] = from[j];
    }
}

/// Adds up `Entries` entries of each row of a lane, of which the first `rest` are there; its rows
/// begin at bit `first` of the masks of its slice.
template <int Entries, int Rows, class T>
__device__ inline void add_diagonals(T (&sum)[Rows], const uniform_entry<T>* entry,
                                     const T* x_at_rows, int first, std::int32_t rest) {
    static_assert(Entries * Rows <= 32);
    T value[Entries];
    T factor[Entries][Rows];
    std::uint32_t present = 0;
#pragma unroll
    for (int u = 0; u < Entries; ++u) {
        value[u] = T(0);
#pragma unroll
        for (int j = 0; j < Rows; ++j) factor[u][j] = T(0);
        if (u >= rest) continue;
        const uniform_entry<T> e = load_entry(entry + u);
        value[u] = e.value;
        present |= (e.step.lanes >> first & ((1u << Rows) - 1)) << u * Rows;
        load_rows(factor[u], x_at_rows + e.step.base);
    }
#pragma unroll
    for (int u = 0; u < Entries; ++u)
#pragma unroll
        for (int j = 0; j < Rows; ++j)
            sum[j] += value[u] * ((present >> (u * Rows + j) & 1) != 0 ? factor[u][j] : T(0));
}

/// A block takes lane_rows<T> groups of slices at a time.
template <class T, int Dots>
__global__ void __launch_bounds__(block_threads, 2)
    stencil_kernel(const __grid_constant__ compact_context parameter,
                   const __grid_constant__ spmv_operands<T> a,
                   const __grid_constant__ sell_view<T> m) {
    constexpr int in_flight = 7; // of each row
    constexpr int rows = lane_rows<T>;
    constexpr int units = block_warps / rows; // of a group
    constexpr int lanes = slice_rows / rows;  // of a slice
    __shared__ context_state state;
    const int warp = static_cast<int>(threadIdx.x / 32);
    const int lane = static_cast<int>(threadIdx.x & 31);
    const auto unit_at = [&](std::int32_t position) {
        const std::int32_t t = position + warp / units;
        if (t >= m.groups) return m.slices;
        return (m.order != nullptr ? m.order[t] : t) * units + warp % units;
    };
    const auto stride = static_cast<std::int32_t>(gridDim.x) * rows;
    auto position = static_cast<std::int32_t>(blockIdx.x) * rows;
    // What the next rows are is loaded one iteration ahead: their loads depend on it.
    std::int32_t unit;
    slice_head head;
    bool joined;
    const auto look_up = [&] {
        unit = unit_at(position);
        head = {0, 0, 0, 0};
        joined = false;
        if (std::int64_t{unit} * rows >= m.slices) return;
        joined = m.joined[unit] != 0;
        if (joined) head = load_head(m.heads + unit * rows + lane / lanes);
    };
    look_up();
    if (!kernel_prologue(parameter, state)) return;
    row_epilogue<T, Dots, false> results(state.context, a);
    while (position < m.groups) {
        results.before_reading(position + rows > m.interior);
        const bool together = joined;
        const std::int64_t begin = std::int64_t{unit} * (rows * slice_rows);
        const uniform_entry<T>* entry = m.uniform + head.read;
        std::int32_t rest = head.length();
        const std::int32_t slice = unit * rows;
        position += stride;
        look_up();
        T sum[rows] = {};
        T earlier[rows] = {};
        if (together) {
            const std::int64_t mine = begin + lane * rows;
            results.earlier_rows(mine, earlier);
            const int bit = lane % lanes * rows;
            for (; rest >= in_flight; rest -= in_flight, entry += in_flight)
                add_diagonals<in_flight>(sum, entry, a.x + mine, bit, in_flight);
            if (rest > 0) add_diagonals<in_flight>(sum, entry, a.x + mine, bit, rest);
        } else {
#pragma unroll
            for (int s = 0; s < rows; ++s) {
                const std::int64_t row = begin + s * slice_rows + lane;
                if (slice + s < m.slices && begin < m.row_count)
                    sum[s] = product_alone(m, slice + s,
                                           row < m.row_count ? static_cast<std::int32_t>(row) : -1,
                                           a.x, lane);
            }
        }
        results.before_writing();
        if (together) {
            results.rows(begin + lane * rows, sum, earlier);
        } else {
#pragma unroll
            for (int s = 0; s < rows; ++s) {
                const std::int64_t row = begin + s * slice_rows + lane;
                if (row < m.row_count) results.row(row, sum[s]);
            }
        }
    }
    results.leave();
}

} // namespace krylith::cuda
