// Finds the slices whose slice-columns have one value each, and those whose values are exact in
// half their bits. Included by .cu files only.
#pragma once

#include <cstdint>

#include <krylith/device/cuda/warp.cuh>
#include <krylith/sparse/epilogue/row_epilogue.cuh>
#include <krylith/sparse/sell/halved_values.cuh>
#include <krylith/sparse/sell/narrow_values.hpp>
#include <krylith/sparse/sell/sell_loads.cuh>
#include <krylith/vector/execution/kernel_context_cuda.cuh>

namespace krylith::cuda {

/// Whether a product may multiply an entry that isn't there by it: it is finite.
template <class T>
__device__ inline bool is_finite(T value) {
    return value - value == T(0);
}

__device__ inline void count(std::int64_t& total, std::int64_t number) {
    atomicAdd(reinterpret_cast<unsigned long long*>(&total),
              static_cast<unsigned long long>(number));
}

inline constexpr std::int32_t largest_slice = 0x7fffffff;

__device__ inline std::uint32_t mixed(std::uint64_t x) {
    x ^= x >> 31;
    x *= 0x7fb5d329728ea185u;
    x ^= x >> 27;
    x *= 0x81dadef4bc2dd44du;
    return static_cast<std::uint32_t>(x >> 33);
}

/// Returns a hash of the steps and values of a uniform slice, the same in all lanes of its warp.
template <class T>
__device__ inline std::uint32_t hash_of(const sell_view<T>& m, const slice_head& head, int lane) {
    std::uint32_t hash = static_cast<std::uint32_t>(head.length());
    for (std::int32_t k = lane; k < head.length(); k += 32) {
        const slice_step step = m.uniform[head.first + k].step;
        const auto value = static_cast<double>(m.uniform[head.first + k].value);
        hash += mixed((static_cast<std::uint64_t>(static_cast<std::uint32_t>(step.base)) << 32 |
                       step.lanes) +
                      static_cast<std::uint64_t>(k) * 0x9e3779b97f4a7c15u) +
                mixed(static_cast<std::uint64_t>(__double_as_longlong(value)) + 3 * k);
    }
    return __shfl_sync(0xffffffffu, warp_sum(hash), 0) % uniform_tables::size;
}

/// Returns whether each slice-column of a slice has one value, and stores these up to the first
/// that has not.
template <class T>
__device__ inline bool find_uniform(const slice_reader<T>& slice, uniform_entry<T>* uniform) {
    constexpr int flight = 4; // slice-columns that are loaded at once
    for (std::int32_t from = 0; from < slice.length; from += flight) {
        T value[flight];
        bool there[flight];
#pragma unroll
        for (int u = 0; u < flight; ++u) {
            value[u] = from + u < slice.length ? slice.value(from + u) : T(0);
            there[u] = from + u < slice.length && slice.column(from + u) >= 0;
        }
#pragma unroll
        for (int u = 0; u < flight; ++u) {
            const std::int32_t k = from + u;
            if (k >= slice.length) break;
            const unsigned lanes = __ballot_sync(all_lanes, there[u]);
            const int one = lanes != 0 ? __ffs(static_cast<int>(lanes)) - 1 : 0;
            const T first = __shfl_sync(all_lanes, value[u], one);
            const T common = lanes != 0 ? first : T(0);
            const bool alike = !there[u] || (same_bits(value[u], common) && is_finite(common));
            if (!__all_sync(all_lanes, alike)) return false;
            if (slice.lane == 0)
                uniform[k] = {common,
                              slice.code != column_code::wide ? slice.steps[k] : slice_step{0, 0}};
        }
    }
    return true;
}

/// Whether all values of a slice but for a few of each row are exact in half their bits.
template <class T>
__device__ inline bool is_exact_in_half(const slice_reader<T>& slice) {
    constexpr int flight = 4;
    int inexact = 0; // of the lane
    for (std::int32_t from = 0; from < slice.length; from += flight) {
        T value[flight];
#pragma unroll
        for (int u = 0; u < flight; ++u)
            value[u] = from + u < slice.length ? slice.value(from + u) : T(0);
#pragma unroll
        for (int u = 0; u < flight; ++u) inexact += is_exact(value[u]) ? 0 : 1;
        if (!__all_sync(all_lanes, inexact <= apart_of_row<T>)) return false;
    }
    return true;
}

/// Marks the uniform slices in `heads` and stores their values, one warp for each slice; those with
/// diagonals are entered in the table. Counts those of the others that are exact in half their
/// bits. It stops soon after the first slice-column that makes a slice neither.
template <class T>
__global__ void __launch_bounds__(block_threads)
    mark_uniform_slices(const __grid_constant__ sell_view<T> m, slice_head* heads,
                        uniform_entry<T>* uniform, uniform_tables* tables) {
    const auto lane = static_cast<int>(threadIdx.x & 31);
    const auto stride = static_cast<std::int32_t>(gridDim.x * block_warps);
    std::int64_t found = 0;
    std::int64_t found_diagonal = 0;
    std::int64_t found_exact = 0;
    std::int64_t exact_slices = 0;
    for (auto s = static_cast<std::int32_t>(blockIdx.x * block_warps + threadIdx.x / 32);
         s < m.slices; s += stride) {
        const slice_reader<T> slice = read_slice(m, s, lane);
        slice_head head = heads[s];
        const bool diagonal = slice.code == column_code::diagonal;
        // No kernel reads triples so.
        const bool same =
            slice.code != column_code::triples && find_uniform(slice, uniform + head.first);
        const bool exact = !same && worth_halving<T>(slice.length) && is_exact_in_half(slice);
        __syncwarp();
        head.shape =
            slice_shape(slice.length, slice.code, same ? value_code::uniform : value_code::full);
        head.read = head.first;
        if (lane == 0) heads[s] = head;
        if (exact) {
            found_exact += slice.length;
            ++exact_slices;
        }
        if (!same) continue;
        found += slice.length;
        if (!diagonal) continue;
        found_diagonal += slice.length;
        const std::uint32_t hash = hash_of(m, head, lane);
        if (lane == 0) atomicMax(tables->first_slice + hash, largest_slice - s);
    }
    if (lane != 0) return;
    if (exact_slices != 0) {
        count(tables->counts.exact, found_exact);
        count(tables->counts.exact_slices, exact_slices);
    }
    if (found == 0) return;
    count(tables->counts.uniform, found);
    count(tables->counts.diagonal, found_diagonal);
}

/// Makes uniform slices read the steps and values of the first one that has the same, where the
/// table knows it, one warp for each slice; and finds uniform_tables::longest.
template <class T>
__global__ void __launch_bounds__(block_threads)
    share_uniform_slices(const __grid_constant__ sell_view<T> m, slice_head* heads,
                         uniform_tables* tables) {
    const auto lane = static_cast<int>(threadIdx.x & 31);
    const auto stride = static_cast<std::int32_t>(gridDim.x * block_warps);
    std::int64_t found = 0;
    value_bits longest = 0;
    for (auto s = static_cast<std::int32_t>(blockIdx.x * block_warps + threadIdx.x / 32);
         s < m.slices; s += stride) {
        const slice_head head = heads[s];
        if (head.values() != value_code::uniform || head.code() != column_code::diagonal) continue;
        longest = max(longest, uniform_tables::as_longest(head.length(), s, m.slices));
        const std::int32_t other = largest_slice - tables->first_slice[hash_of(m, head, lane)];
        if (other == s) continue;
        const std::uint32_t first = heads[other].first; // nobody changes this member
        bool same = heads[other].length() == head.length();
        for (std::int32_t k = lane; same && k < head.length(); k += 32)
            same = m.uniform[head.first + k].step == m.uniform[first + k].step &&
                   same_bits(m.uniform[head.first + k].value, m.uniform[first + k].value);
        if (__all_sync(0xffffffffu, same) == 0) continue;
        if (lane == 0) heads[s].read = first;
        found += head.length();
    }
    if (lane != 0) return;
    if (longest != 0) atomicMax(&tables->longest, longest);
    if (found != 0) count(tables->counts.shared, found);
}

} // namespace krylith::cuda
