// Finds the slices whose slice-columns have one value each. Included by .cu files only.
#pragma once

#include <cstdint>

#include <krylith/device/cuda/warp.cuh>
#include <krylith/sparse/sell/sell_slices.cuh>

namespace krylith::cuda {

/// Whether a product may multiply an entry that isn't there by it: it is finite.
template <class T>
__device__ inline bool is_finite(T value) {
    return value - value == T(0);
}

/// Whether two numbers are the same, 0 and -0 being two.
__device__ inline bool same_bits(double a, double b) {
    return __double_as_longlong(a) == __double_as_longlong(b);
}
__device__ inline bool same_bits(float a, float b) {
    return __float_as_int(a) == __float_as_int(b);
}

/// Marks the uniform slices in `heads` and stores their values, one warp for each slice; `columns`
/// is set to the number of their slice-columns, from 0. It reads the values once, and stops at the
/// first slice-column of a slice that isn't uniform.
template <class T>
__global__ void __launch_bounds__(block_threads)
    mark_uniform_slices(const __grid_constant__ sell_view<T> m, slice_head* heads, T* uniform,
                        unsigned long long* columns) {
    constexpr unsigned all = 0xffffffffu;
    const auto lane = static_cast<int>(threadIdx.x & 31);
    const auto stride = static_cast<std::int32_t>(gridDim.x * block_warps);
    unsigned long long found = 0;
    for (auto s = static_cast<std::int32_t>(blockIdx.x * block_warps + threadIdx.x / 32);
         s < m.slices; s += stride) {
        const slice_reader<T> slice = read_slice(m, s, lane);
        const slice_head head = load_head(m.heads + s);
        bool same = true;
        for (std::int32_t k = 0; same && k < slice.length; ++k) {
            const bool here = slice.column(k) >= 0;
            const unsigned lanes = __ballot_sync(all, here);
            const T mine = slice.value(k);
            const T first =
                __shfl_sync(all, mine, lanes != 0 ? __ffs(static_cast<int>(lanes)) - 1 : 0);
            const T value = lanes != 0 ? first : T(0);
            same = __all_sync(all, !here || (same_bits(mine, value) && is_finite(value))) != 0;
            if (lane == 0) uniform[head.first + k] = value;
        }
        if (lane != 0) continue;
        heads[s].shape =
            slice_shape(slice.length, slice.code, same ? value_code::uniform : value_code::full);
        if (same) found += static_cast<unsigned long long>(slice.length);
    }
    if (found != 0) atomicAdd(columns, found);
}

} // namespace krylith::cuda
