#pragma once

#include <cstdint>

#include <krylith/device/device.hpp>

namespace krylith::testing {

constexpr int sum_threads = 256; ///< threads of the block
constexpr int sum_blocks = 9;

/// The values that each thread of a block gets from its value by device/cuda/warp.cuh and
/// block.cuh.
struct sums_of_thread {
    std::int32_t warp;     ///< the sum of its warp
    std::int32_t pair;     ///< the sum of 2 lanes
    std::int32_t eight;    ///< the sum of 8 lanes
    std::int64_t wide;     ///< the sum of its warp, in 64 bits
    double real;           ///< the sum of its warp, in double
    std::int32_t largest;  ///< the largest value of 4 lanes
    std::int32_t running;  ///< the sum of the lower lanes and its own
    std::int32_t segment;  ///< the same, from the last multiple of 5 among the lanes on
    std::int64_t of_block; ///< the sum of its block in thread 0; 0 elsewhere
    std::int32_t for_all;  ///< the sum of its block
};

/// Enqueues sum_blocks blocks of sum_threads threads. All blocks have the same values; the first
/// writes what its threads get, and the last adds what all of them had stored to `last`.
void enqueue_sums_on_cuda(device& device, const std::int32_t* values, sums_of_thread* sums,
                          std::int32_t* stored, unsigned* arrived, std::int32_t* last);

} // namespace krylith::testing
