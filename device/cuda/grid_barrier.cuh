// A barrier for the blocks of one kernel on one device (cooperative_launch.cuh). Between devices
// kernels wait by stamped values instead (peer_memory.cuh).
#pragma once

#include <krylith/device/cuda/atomics.cuh>

namespace krylith::cuda {

/// A barrier that all threads of all blocks call: what any of them stored before is visible to each
/// after it. Thread 0 of each block runs `after()` once all blocks are there, before the block's
/// others go on: to fetch for them what the blocks have agreed on. `state` is 0 before the first
/// use, and belongs to one grid at a time; barriers may follow each other in any number, kernel
/// after kernel.
///
/// Block 0 adds what the others' ones lack to 2^31, so the state's highest bit changes when all
/// have come and the others are as before: no reset is needed, and a block that is ahead can't be
/// mistaken for one that is late. A block costs one atomic, and a trip to L2 for each poll; acquire
/// drops the lines of L1, so plain loads don't find there what was read before.
template <class After>
__device__ inline void grid_barrier(unsigned* state, const After& after) {
    constexpr unsigned phase_bit = 0x80000000u;
    __syncthreads();
    if (threadIdx.x == 0) {
        const unsigned add = blockIdx.x == 0 ? phase_bit - (gridDim.x - 1) : 1u;
        const unsigned before = add_acq_rel(state, add);
        while (((load_acquire_of_device(state) ^ before) & phase_bit) == 0) {
        }
        after();
    }
    __syncthreads();
}

} // namespace krylith::cuda
