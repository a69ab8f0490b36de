// What a solve leaves for the next one on the device, so that no pass resets it.
#pragma once

#include <cstdint>

#include <krylith/device/cuda/block.cuh>
#include <krylith/sparse/sptrsv/solve_kernels.hpp>
#include <krylith/sparse/sptrsv/solved_words.cuh>

namespace krylith::cuda {

/// The words of this solve, all unknown when it begins, and those of the next one, which this one
/// marks as unknown while it goes.
template <class T>
struct word_pair {
    T* own;
    T* next;
    __device__ word_pair(T* words, std::int64_t count, unsigned parity)
        : own(parity == 0 ? words : words + count), next(parity == 0 ? words + count : words) {}
};

/// The end of a block's work; the last block makes the counters those of the next solve.
__device__ inline void leave_solve(solve_counters* counters) {
    if (!last_block(&counters->arrived)) return;
    if (threadIdx.x != 0) return;
    counters->ticket = 0;
    counters->arrived = 0;
    counters->parity ^= 1u;
}

} // namespace krylith::cuda
