// The clock that all threads of a device read.
#pragma once

#include <cstdint>

namespace krylith::cuda {

__device__ inline std::uint64_t nanoseconds() {
    std::uint64_t now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    return now;
}

} // namespace krylith::cuda
