// A barrier for the blocks of one kernel on one device (cooperative_launch.cuh). Between devices
// kernels wait by stamped values instead (peer_memory.cuh).
#pragma once

#include <krylith/device/cuda/atomics.cuh>

namespace krylith::cuda {

/// By all threads of all blocks: what any of them stored before is visible to each after it.
/// `after()` is run by thread 0 of each block once all blocks are there, before the block's others
/// go on: to fetch for them what the blocks have agreed on. `state` is 0 before the first use, and
/// of one grid at a time; barriers may follow each other in any number, kernel after kernel.
///
/// Block 0 adds what the others' ones lack to 2^31, so the state's highest bit turns when all have
/// come and the others are as before: no reset, and a block that is ahead can't be mistaken for one
/// that is late. One atomic a block, and a trip to L2 for each look; acquire drops the lines of L1,
/// so plain loads don't find there what was read before.
template <class After>
__device__ inline void grid_barrier(unsigned* state, const After& after) {
    constexpr unsigned turn = 0x80000000u;
    __syncthreads();
    if (threadIdx.x == 0) {
        const unsigned add = blockIdx.x == 0 ? turn - (gridDim.x - 1) : 1u;
        const unsigned before = add_acq_rel(state, add);
        while (((load_acquire_of_device(state) ^ before) & turn) == 0) {
        }
        after();
    }
    __syncthreads();
}

} // namespace krylith::cuda
