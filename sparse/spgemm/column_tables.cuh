// Hash tables of columns in shared memory, and what becomes of rows that they have no room for.
#pragma once

#include <cstdint>

namespace krylith::cuda {

inline constexpr std::uint32_t no_key = 0xffffffffu; // greater than all columns

[[nodiscard]] __device__ inline std::uint32_t hash_of_key(std::uint32_t key) {
    return (key * 0x9e3779b1u) >> 16;
}

/// Rows that the device counts.
struct counted_rows {
    const std::int32_t* rows;
    const unsigned* count;
};

/// Where kernels put the rows that find no room in their table, in any order.
struct overflow_list {
    std::int32_t* rows;
    unsigned* count;
    __device__ void add(std::int64_t row) const {
        rows[atomicAdd(count, 1u)] = static_cast<std::int32_t>(row);
    }
};

/// Returns the home of a key in a table that has room for it, and whether this thread brought it.
/// Most keys are there already, and a look is cheaper than an atomic.
template <int Size>
[[nodiscard]] __device__ inline int insert_key(std::uint32_t* keys, std::uint32_t key,
                                               bool& first_of_kind) {
    int home = static_cast<int>(hash_of_key(key) % Size);
    for (;;) {
        std::uint32_t old = *static_cast<volatile std::uint32_t*>(&keys[home]);
        if (old == no_key) {
            old = atomicCAS(&keys[home], no_key, key);
            first_of_kind = old == no_key;
            if (first_of_kind) return home;
        }
        if (old == key) return home;
        home = (home + 1) % Size;
    }
}

} // namespace krylith::cuda
