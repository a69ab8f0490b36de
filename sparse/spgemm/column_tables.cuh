// Hash tables of columns in shared memory.
#pragma once

#include <cstdint>

#include <krylith/device/cuda/warp.cuh>

namespace krylith::cuda {

inline constexpr std::uint32_t no_key = 0xffffffffu; // greater than all columns

[[nodiscard]] __device__ inline std::uint32_t hash_of_key(std::uint32_t key) {
    return (key * 0x9e3779b1u) >> 16;
}

/// Returns the home of the lane's key in a table that has room for it, and whether this lane
/// brought it; a lane without a key has no_key. All lanes call it, and stay together: where each
/// looked until it found its key, most instructions would be those of a few lanes. Most keys are
/// there already, and a look is cheaper than an atomic.
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

/// The same, and lists the keys that lanes bring, with their homes, behind the `found` that are
/// listed.
template <int Size>
[[nodiscard]] __device__ inline int list_key(std::uint32_t* keys, std::uint32_t key,
                                             std::uint32_t* list, std::uint8_t* homes, int& found) {
    static_assert(Size <= 256);
    bool first_of_kind = false;
    const int home = insert_key<Size>(keys, key, first_of_kind);
    const unsigned firsts = __ballot_sync(all_lanes, first_of_kind);
    if (firsts == 0) return home;
    if (first_of_kind) {
        const int at = found + __popc(firsts & ((1u << lane_number()) - 1));
        list[at] = key;
        homes[at] = static_cast<std::uint8_t>(home);
    }
    found += __popc(firsts);
    return home;
}

/// The number of `count` listed keys that are smaller than one of them. The list lies at a multiple
/// of 16 bytes, and no_key follows up to four times.
[[nodiscard]] __device__ inline std::uint32_t rank_among(const std::uint32_t* list, int count,
                                                         std::uint32_t key) {
    std::uint32_t rank = 0;
    for (int other = 0; other < count; other += 4) {
        const uint4 some = reinterpret_cast<const uint4*>(list)[other / 4];
        rank += (some.x < key) + (some.y < key) + (some.z < key) + (some.w < key);
    }
    return rank;
}

} // namespace krylith::cuda
