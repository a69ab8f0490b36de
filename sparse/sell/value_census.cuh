// The different values of a matrix, found on its device, and the codes that they get. Included by
// .cu files only.
#pragma once

#include <cstdint>

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/cuda/warp.cuh>
#include <krylith/sparse/sell/halved_values.cuh>
#include <krylith/sparse/sell/narrow_values.hpp>
#include <krylith/sparse/sell/sell_loads.cuh>
#include <krylith/vector/execution/kernel_context_cuda.cuh>

namespace krylith::cuda {

__device__ inline value_bits bits_of_value(double value) {
    return static_cast<value_bits>(__double_as_longlong(value));
}
__device__ inline value_bits bits_of_value(float value) {
    return __float_as_uint(value);
}

__device__ inline std::uint32_t first_slot(value_bits bits) {
    bits ^= bits >> 31;
    bits *= 0x7fb5d329728ea185u;
    bits ^= bits >> 29;
    return static_cast<std::uint32_t>(bits * 0x81dadef4bc2dd44du >> 40) % value_census::slots;
}

/// Enters a value other than 0. Slots are read through the first-level cache, where one may look
/// empty that another multiprocessor has filled: the exchange tells.
__device__ inline void enter(value_census& census, value_bits bits) {
    const value_bits key = ~bits;
    std::uint32_t slot = first_slot(bits);
    for (std::uint32_t t = 0; key != 0 && t < value_census::tries; ++t) {
        value_bits there = __ldca(census.inverse + slot);
        if (there == 0) {
            there = atomicCAS(census.inverse + slot, value_bits{0}, key);
            if (there == 0) atomicAdd(&census.different, 1);
        }
        if (there == key || there == 0) return;
        slot = (slot + 1) % value_census::slots;
    }
    if (key != 0 && __ldcg(&census.different) <= value_census::most)
        atomicMax(&census.different, value_census::most + 1);
}

/// Returns the code of a value, -1: none.
[[nodiscard]] __device__ inline std::int32_t code_of(const value_census& census, value_bits bits) {
    if (bits == 0) return 0;
    const value_bits key = ~bits;
    if (key == 0) return -1;
    std::uint32_t slot = first_slot(bits);
    for (std::uint32_t t = 0; t < value_census::tries; ++t) {
        const value_bits there = census.inverse[slot];
        if (there == key) return census.code[slot];
        if (there == 0) return -1;
        slot = (slot + 1) % value_census::slots;
    }
    return -1;
}

/// Enters the values of all slices that aren't uniform, one warp for each slice; stops where they
/// are too many.
template <class T>
__global__ void __launch_bounds__(block_threads)
    take_census(const __grid_constant__ sell_view<T> m, value_census* census) {
    const auto lane = static_cast<int>(threadIdx.x & 31);
    const auto stride = static_cast<std::int32_t>(gridDim.x * block_warps);
    for (auto s = static_cast<std::int32_t>(blockIdx.x * block_warps + threadIdx.x / 32);
         s < m.slices; s += stride) {
        const slice_head head = m.heads[s];
        if (head.values() == value_code::uniform) continue;
        const T* const from = m.values + std::int64_t{head.first} * slice_rows + lane;
        value_bits last = 0;
        for (std::int32_t k = 0; k < head.length(); ++k) {
            if (k % 4 == 0 && __ldcg(&census->different) > value_census::most) return;
            const value_bits bits = bits_of_value(load_once(from + std::int64_t{k} * slice_rows));
            if (bits != last && bits != 0) enter(*census, bits);
            last = bits;
        }
    }
}

/// Gives codes to the values, by one block of as many threads as there are slots.
template <class T>
__global__ void __launch_bounds__(value_census::slots)
    number_values(value_census* census, T* table) {
    __shared__ int numbered;
    if (threadIdx.x == 0) numbered = 0;
    for (auto i = static_cast<std::int32_t>(threadIdx.x); i < table_size;
         i += static_cast<std::int32_t>(blockDim.x))
        table[i] = T(0);
    __syncthreads();
    if (census->different > value_census::most) return;
    const value_bits key = census->inverse[threadIdx.x];
    if (key == 0) return;
    const int code = 1 + atomicAdd(&numbered, 1);
    census->code[threadIdx.x] = static_cast<std::uint8_t>(code);
    if constexpr (sizeof(T) == 8)
        table[code] = __longlong_as_double(static_cast<long long>(~key));
    else
        table[code] = __uint_as_float(static_cast<unsigned>(~key));
}

/// Stores the codes of slices that aren't uniform, one warp for each slice, and marks those all of
/// whose values have one.
template <class T>
__global__ void __launch_bounds__(block_threads)
    store_codes(const __grid_constant__ sell_view<T> m, slice_head* heads, std::uint32_t* codes,
                value_census* census) {
    const auto lane = static_cast<int>(threadIdx.x & 31);
    const auto stride = static_cast<std::int32_t>(gridDim.x * block_warps);
    std::int64_t found = 0;
    for (auto s = static_cast<std::int32_t>(blockIdx.x * block_warps + threadIdx.x / 32);
         s < m.slices; s += stride) {
        const slice_head head = heads[s];
        if (head.values() == value_code::uniform) continue;
        const std::int32_t length = head.length();
        const T* const from = m.values + std::int64_t{head.first} * slice_rows + lane;
        std::uint32_t* const to =
            codes + std::int64_t{words_before(head.first, s, codes_of_word)} * slice_rows + lane;
        bool known = true;
        for (std::int32_t k = 0; known && k < length; k += 4) {
            std::uint32_t word = 0;
            bool all_known = true;
#pragma unroll
            for (int u = 0; u < 4; ++u) {
                if (k + u >= length) continue;
                const std::int32_t code = code_of(
                    *census, bits_of_value(load_once(from + (std::int64_t{k} + u) * slice_rows)));
                all_known = all_known && code >= 0;
                word |= static_cast<std::uint32_t>(code & 0xff) << (8 * u);
            }
            to[std::int64_t{k / 4} * slice_rows] = word;
            known = __all_sync(all_lanes, all_known) != 0;
        }
        if (!known) continue;
        found += length;
        if (lane == 0) heads[s].shape = slice_shape(length, head.code(), value_code::table);
    }
    if (found != 0 && lane == 0)
        atomicAdd(reinterpret_cast<value_bits*>(&census->table_columns),
                  static_cast<value_bits>(found));
}

/// Stores the values of slices that aren't uniform in half their bits, one warp for each slice, and
/// marks those all of whose values are exact, but for as many of a row as may be apart.
template <class T>
__global__ void __launch_bounds__(block_threads)
    store_halved(const __grid_constant__ sell_view<T> m, slice_head* heads, std::uint32_t* words,
                 T* apart) {
    constexpr int of_word = halved_of_word<T>;
    const auto lane = static_cast<int>(threadIdx.x & 31);
    const auto stride = static_cast<std::int32_t>(gridDim.x * block_warps);
    for (auto s = static_cast<std::int32_t>(blockIdx.x * block_warps + threadIdx.x / 32);
         s < m.slices; s += stride) {
        const slice_head head = heads[s];
        if (head.values() == value_code::uniform) continue;
        const std::int32_t length = head.length();
        const T* const from = m.values + std::int64_t{head.first} * slice_rows + lane;
        std::uint32_t* const to =
            words + std::int64_t{words_before(head.first, s, of_word)} * slice_rows + lane;
        int inexact = 0; // of the lane
        T other = 0;     // the last of these
        bool exact = worth_halving<T>(length);
        for (std::int32_t k = 0; exact && k < length; k += of_word) {
            std::uint32_t word = 0;
#pragma unroll
            for (int u = 0; u < of_word; ++u) {
                if (k + u >= length) continue;
                const T value = load_once(from + (std::int64_t{k} + u) * slice_rows);
                std::uint32_t half = halved(value);
                if (!is_exact(value, half)) {
                    ++inexact;
                    other = value;
                    half = apart_bits;
                }
                word |= half << (32 / of_word * u);
            }
            to[std::int64_t{k / of_word} * slice_rows] = word;
            exact = __all_sync(all_lanes, inexact <= apart_of_row<T>) != 0;
        }
        if (!exact) continue;
        if constexpr (apart_of_row<T> != 0) apart[std::int64_t{s} * slice_rows + lane] = other;
        if (lane == 0) heads[s].shape = slice_shape(length, head.code(), value_code::halved);
    }
}

} // namespace krylith::cuda
