// Loads and stores that cross devices, with the ordering of the PTX memory model spelled out.
#pragma once

#include <cstdint>

#include <krylith/device/cuda/atomics.cuh>
#include <krylith/device/cuda/global_clock.cuh>
#include <krylith/device/kernel/all_reduce_slots.hpp>

namespace krylith::cuda {

/// Loads value and epoch in one access: 128-bit accesses are single-copy atomic (PTX 8.3).
__device__ inline stamped_value load_stamped(const stamped_value* from) {
    std::uint64_t value;
    std::uint64_t epoch;
    asm volatile("{ .reg .b128 both;\n"
                 "ld.relaxed.sys.global.b128 both, [%2];\n"
                 "mov.b128 {%0, %1}, both; }"
                 : "=l"(value), "=l"(epoch)
                 : "l"(from)
                 : "memory");
    return {__longlong_as_double(static_cast<long long>(value)), epoch};
}

__device__ inline void store_stamped(stamped_value* to, stamped_value what) {
    asm volatile("{ .reg .b128 both;\n"
                 "mov.b128 both, {%1, %2};\n"
                 "st.relaxed.sys.global.b128 [%0], both; }"
                 :
                 : "l"(to), "l"(__double_as_longlong(what.value)), "l"(what.epoch)
                 : "memory");
}

/// Tells every rank that `missing` did not answer.
__device__ inline void raise_failure(const all_reduce_slots& all_reduce, int missing) {
    for (int r = 0; r < all_reduce.ranks; ++r)
        *static_cast<volatile std::int32_t*>(all_reduce.failures[r]) = missing + 1;
    *static_cast<volatile std::int32_t*>(all_reduce.failure) = missing + 1;
}

/// Returns whether the host has yet to launch on some devices; this reads its memory.
__device__ inline bool launches_are_under_way(const all_reduce_slots& all_reduce) {
    return all_reduce.launching != nullptr && load_relaxed(all_reduce.launching) != 0;
}

/// Spins until `there()`. Returns false, with the failure raised everywhere, after the time-out or
/// where another wait has already failed. Time counts once all devices have been launched on: where
/// it is up and that was not so at this check or the one before, it starts again, so that a wait
/// ends at most two time-outs after the last launch.
template <class Condition>
__device__ inline bool wait_until(const all_reduce_slots& all_reduce, int awaited,
                                  Condition there) {
    std::uint64_t start = 0; // set only where the wait is long; odd: launches were under way
    for (;;) {
#pragma unroll 1
        for (int i = 0; i < 64; ++i)
            if (there()) return true;
        if (load_relaxed(all_reduce.failure) != 0) return false;
        const std::uint64_t now = nanoseconds() & ~std::uint64_t{1};
        if (start == 0) start = now;
        if (now > start + all_reduce.timeout_ns) {
            const bool launching = launches_are_under_way(all_reduce);
            if (!launching && (start & 1) == 0) {
                raise_failure(all_reduce, awaited);
                return false;
            }
            start = now + (launching ? 1 : 0);
        }
    }
}

} // namespace krylith::cuda
