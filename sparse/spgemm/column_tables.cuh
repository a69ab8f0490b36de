// Hash tables of columns in shared memory.
#pragma once

#include <cstdint>

#include <krylith/device/cuda/warp.cuh>

namespace krylith::cuda {

inline constexpr std::uint32_t no_key = 0xffffffffu; // greater than all columns

[[nodiscard]] __device__ inline std::uint32_t hash_of_key(std::uint32_t key) {
    return (key * 0x9e3779b1u) >> 16;
}

/// Returns the home of the lane's key in a table that has room for it, and whether this lane brought
/// it; a lane without a key has no_key. All lanes call it, and stay together: where each looked
/// until it found its key, most instructions would be those of a few lanes. Most keys are there
/// already, and a look is cheaper than an atomic.
template <int Size>
[[nodiscard]] __device__ inline int insert_key(std::uint32_t* keys, std::uint32_t key,
                                               bool& first_of_kind) {
    static_assert((Size & (Size - 1)) == 0);
    unsigned home = hash_of_key(key) % Size;
    std::uint32_t there = *static_cast<volatile std::uint32_t*>(&keys[home]);
    bool looks = key != no_key && there != key;
    first_of_kind = false;
    while (__any_sync(all_lanes, looks)) {
        if (looks && there == no_key) {
            there = atomicCAS(&keys[home], no_key, key);
            first_of_kind = there == no_key;
            looks = !first_of_kind && there != key;
        }
        if (looks) {
            home = (home + 1) % Size;
            there = *static_cast<volatile std::uint32_t*>(&keys[home]);
            looks = there != key;
        }
    }
    return static_cast<int>(home);
}

} // namespace krylith::cuda
