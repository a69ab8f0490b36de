// Loads, stores and counters by which threads order what they have written: the PTX memory model,
// spelled out. Counters and minima without an order are CUDA's own atomicAdd, atomicMin, ...
//
// cuda::atomic_ref has the same instructions, but <cuda/atomic> costs every .cu 1.5 s of
// compilation, and its accesses name no address space: these say `global`.
#pragma once

#include <cstdint>

namespace krylith::cuda {

/// The type of CUDA's atomics of 64 bits.
using atomic_word = unsigned long long;
static_assert(sizeof(atomic_word) == sizeof(std::uint64_t));

// These order threads of one device.

/// Adds to a counter and returns what it was. What the thread (and, before a barrier, its block)
/// wrote is visible to those that add later.
__device__ inline unsigned add_acq_rel(unsigned* counter, unsigned number) {
    unsigned before;
    asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], %2;"
                 : "=r"(before)
                 : "l"(counter), "r"(number)
                 : "memory");
    return before;
}

[[nodiscard]] __device__ inline unsigned load_acquire_of_device(const unsigned* from) {
    unsigned value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
    return value;
}

__device__ inline void fence_acq_rel() {
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
}

// These order threads of several devices, and a device and the host.

[[nodiscard]] __device__ inline std::uint64_t load_acquire(const std::uint64_t* from) {
    std::uint64_t value;
    asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
    return value;
}

__device__ inline void store_release(std::uint64_t* to, std::uint64_t value) {
    asm volatile("st.release.sys.global.u64 [%0], %1;" : : "l"(to), "l"(value) : "memory");
}

[[nodiscard]] __device__ inline std::uint64_t load_relaxed(const std::uint64_t* from) {
    std::uint64_t value;
    asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
    return value;
}

__device__ inline void store_relaxed(std::uint64_t* to, std::uint64_t value) {
    asm volatile("st.relaxed.sys.global.u64 [%0], %1;" : : "l"(to), "l"(value) : "memory");
}

[[nodiscard]] __device__ inline std::int32_t load_relaxed(const std::int32_t* from) {
    std::int32_t value;
    asm volatile("ld.relaxed.sys.global.s32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
    return value;
}

[[nodiscard]] __device__ inline std::uint32_t load_relaxed(const std::uint32_t* from) {
    std::uint32_t value;
    asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
    return value;
}

} // namespace krylith::cuda
