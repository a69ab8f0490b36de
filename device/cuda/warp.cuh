// Sums and scans over the 32 lanes of a warp. All lanes of the warp call them together.
//
// CUB makes the same shuffles of the same sums, but its headers double the time that a small .cu
// takes to compile (<cub/warp/warp_reduce.cuh>: 3 s).
#pragma once

#include <cstdint>

namespace krylith::cuda {

inline constexpr unsigned all_lanes = 0xffffffffu;

[[nodiscard]] __device__ inline int lane_number() {
    return static_cast<int>(threadIdx.x & 31);
}

/// The values of `Lanes` neighbouring lanes, joined in a tree that is the same in every run, and
/// known to each of these lanes. `join(own, other)` is commutative. Lanes is a power of two.
template <int Lanes = 32, class V, class Join>
[[nodiscard]] __device__ inline V warp_reduce(V value, Join join) {
#pragma unroll
    for (int by = Lanes / 2; by > 0; by /= 2)
        value = join(value, __shfl_xor_sync(all_lanes, value, by));
    return value;
}

/// The sum over `Lanes` neighbouring lanes, in a fixed order and known to each of them.
template <int Lanes = 32, class V>
[[nodiscard]] __device__ inline V warp_sum(V value) {
    return warp_reduce<Lanes>(value, [](V own, V other) { return own + other; });
}

/// This overload uses the instruction that sums integers of 32 bits over a warp.
[[nodiscard]] __device__ inline unsigned warp_sum(unsigned value) {
    return __reduce_add_sync(all_lanes, value);
}
[[nodiscard]] __device__ inline std::int32_t warp_sum(std::int32_t value) {
    return __reduce_add_sync(all_lanes, value);
}

/// The values of the `reach` lanes before and the lane's own, joined. `join(before, own)` is
/// associative. A segmented scan lets a lane reach back to the first lane of its segment.
template <class V, class Join>
[[nodiscard]] __device__ inline V warp_scan(V value, int reach, Join join) {
#pragma unroll
    for (int by = 1; by < 32; by *= 2) {
        const V before = __shfl_up_sync(all_lanes, value, by);
        if (by <= reach) value = join(before, value);
    }
    return value;
}

/// The sum of the values of lower lanes and the lane's own.
template <class V>
[[nodiscard]] __device__ inline V warp_running_sum(V value) {
    return warp_scan(value, lane_number(), [](V before, V own) { return before + own; });
}

} // namespace krylith::cuda
