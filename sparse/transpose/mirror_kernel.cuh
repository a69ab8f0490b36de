// Transposition of a pattern that is its own transposed: a square matrix whose rows ascend strictly
// and that has an entry (j, i) for each (i, j). Then A^T has the pattern of A, and only values
// move: each entry looks for the other one in the row of its column, about where it would be in a
// stencil.
//
// Bytes a nonzero, fp64: 12 read, 12 written, 8 read and written a row; from the L2 cache a sector
// of indices and one of values for each entry whose row is far away, 80 for a mesh of 7 points.
#pragma once

#include <cstdint>

#include <krylith/sparse/transpose/entry_rows.cuh>
#include <krylith/sparse/transpose/transpose_kernels.hpp>

namespace krylith::cuda {

inline constexpr int mirror_threads = 256;
inline constexpr int mirror_window = 512; ///< entries of a warp

/// Where entries of a warp's window are: their rows, and their places in these.
struct mirror_places {
    std::int32_t row[mirror_window];
    std::uint16_t place[mirror_window]; ///< from the row's first entry, at most 65535
};

/// Fills the places of [begin, end). A warp calls it.
__device__ inline void find_window_places(const csr_pattern& a, std::int64_t begin,
                                          std::int64_t end, mirror_places& to) {
    const int lane = lane_number();
    std::int64_t row = row_at(a.offsets, a.rows, begin);
    for (std::int64_t k = begin; k < end; row += 32) {
        const row_group group = row_group::load(a.offsets, row, a.rows, begin);
        if (group.end <= k) { // 32 empty rows, perhaps many more
            row = row_at(a.offsets, a.rows, k) - 32;
            continue;
        }
        const std::int64_t last = min(group.end, end);
        for (; k < last; k += 32) {
            const int step = static_cast<int>(k - begin);
            const int from = group.lane_of(step);
            const int start = __shfl_sync(all_lanes, group.ahead, from);
            const int in_group = __shfl_sync(all_lanes, group.row, from);
            if (k + lane < last) {
                to.row[step + lane] = static_cast<std::int32_t>(row) + in_group;
                to.place[step + lane] = static_cast<std::uint16_t>(min(step + lane - start, 65535));
            }
        }
        k = last;
    }
    __syncwarp();
}

/// The position of `wanted` in a row of ascending indices; -1 where it is not there.
__device__ inline std::int64_t find_in_row(const std::int32_t* indices, std::int64_t begin,
                                           std::int64_t end, std::int32_t wanted) {
    while (begin < end) {
        const std::int64_t middle = begin + (end - begin) / 2;
        const std::int32_t at = __ldg(indices + middle);
        if (at == wanted) return middle;
        if (at < wanted)
            begin = middle + 1;
        else
            end = middle;
    }
    return -1;
}

/// The same, which looks around `guess` first, where `found` is.
__device__ inline std::int64_t find_near(const std::int32_t* indices, std::int64_t begin,
                                         std::int64_t end, std::int64_t guess, std::int32_t found,
                                         std::int32_t wanted) {
    for (int tries = 0; tries < 3; ++tries) {
        if (found == wanted) return guess;
        guess += found < wanted ? 1 : -1;
        if (guess < begin || guess >= end) return -1;
        found = __ldg(indices + guess);
    }
    return find_in_row(indices, begin, end, wanted);
}

/// Looks at a few entries in advance, the first or the last of rows here and there: where one has
/// no mirror, mirror_entries() stops at once.
__global__ void __launch_bounds__(mirror_threads)
    probe_mirror(const __grid_constant__ csr_pattern a, unsigned* differs) {
    const std::int64_t probes = std::int64_t{gridDim.x} * mirror_threads;
    const std::int64_t probe = std::int64_t{blockIdx.x} * mirror_threads + threadIdx.x;
    const std::int64_t row = a.rows / probes * probe + a.rows % probes * probe / probes;
    const std::int64_t begin = a.offsets[row];
    const std::int64_t end = a.offsets[row + 1];
    if (begin == end) return;
    const std::int32_t column = a.indices[(probe & 1) == 0 ? begin : end - 1];
    if (find_in_row(a.indices, a.offsets[column], a.offsets[column + 1],
                    static_cast<std::int32_t>(row)) < 0)
        atomicOr(differs, 1u);
}

/// Writes the transposed arrays, or sets *differs where the pattern is not its own transposed; what
/// was written then means nothing.
template <class T>
__global__ void __launch_bounds__(mirror_threads, 4)
    mirror_entries(const __grid_constant__ csr_pattern a,
                   const __grid_constant__ transposed_arrays<T> to, unsigned* differs) {
    __shared__ mirror_places memory[mirror_threads / 32];
    mirror_places& places = memory[threadIdx.x / 32];
    const int lane = lane_number();
    const std::int64_t warps = std::int64_t{gridDim.x} * (mirror_threads / 32);
    const std::int64_t windows = (a.nonzeros - 1) / mirror_window + 1;
    const std::int64_t first = std::int64_t{blockIdx.x} * (mirror_threads / 32) + threadIdx.x / 32;
    if (*const_cast<volatile unsigned*>(differs) != 0) return;
    for (std::int64_t r = first * 32 + lane; r <= a.rows; r += warps * 32)
        to.offsets[r] = __ldg(a.offsets + r);
    constexpr int in_flight = 4; // loads of a step are all issued before its stores
    for (std::int64_t window = first; window < windows; window += warps) {
        if (*const_cast<volatile unsigned*>(differs) != 0) return;
        const std::int64_t begin = window * mirror_window;
        const auto entries = static_cast<int>(min(std::int64_t{mirror_window}, a.nonzeros - begin));
        find_window_places(a, begin, begin + entries, places);
        bool fits = true;
        for (int step = lane; step < entries; step += 32 * in_flight) {
            std::int32_t column[in_flight];
            std::int32_t before[in_flight];
            std::int64_t row_begin[in_flight];
            std::int64_t row_end[in_flight];
            std::int64_t mirror[in_flight];
            std::int32_t found[in_flight];
            T value[in_flight];
#pragma unroll
            for (int u = 0; u < in_flight; ++u) {
                const std::int64_t k = begin + min(step + 32 * u, entries - 1);
                column[u] = __ldg(a.indices + k);
                before[u] = k == 0 ? -1 : __ldg(a.indices + k - 1);
            }
#pragma unroll
            for (int u = 0; u < in_flight; ++u) {
                row_begin[u] = __ldg(a.offsets + column[u]);
                row_end[u] = __ldg(a.offsets + column[u] + 1);
            }
#pragma unroll
            for (int u = 0; u < in_flight; ++u) {
                const int at = min(step + 32 * u, entries - 1);
                mirror[u] = max(row_begin[u], row_end[u] - 1 - places.place[at]);
                found[u] = row_begin[u] < row_end[u] ? __ldg(a.indices + mirror[u]) : -1;
            }
#pragma unroll
            for (int u = 0; u < in_flight; ++u) {
                const int at = min(step + 32 * u, entries - 1);
                // Ascending rows: what comes before in the row is less.
                if (places.place[at] != 0 && before[u] >= column[u]) fits = false;
                if (found[u] != places.row[at])
                    mirror[u] = find_near(a.indices, row_begin[u], row_end[u], mirror[u], found[u],
                                          places.row[at]);
                if (mirror[u] < 0) fits = false;
            }
            if (!fits) break;
            if (to.values != nullptr) {
#pragma unroll
                for (int u = 0; u < in_flight; ++u) value[u] = __ldg(to.values + mirror[u]);
            }
#pragma unroll
            for (int u = 0; u < in_flight; ++u) {
                const std::int64_t k = begin + step + 32 * u;
                if (step + 32 * u >= entries) continue;
                to.indices[k] = column[u];
                if (to.values != nullptr) to.transposed_values[k] = value[u];
                if (to.places.narrow != nullptr)
                    to.places.narrow[k] = static_cast<std::uint32_t>(mirror[u]);
                if (to.places.wide != nullptr) to.places.wide[k] = mirror[u];
            }
        }
        if (!__all_sync(all_lanes, fits)) {
            if (lane == 0) atomicOr(differs, 1u);
            return;
        }
        __syncwarp(); // readers of the places
    }
}

} // namespace krylith::cuda
