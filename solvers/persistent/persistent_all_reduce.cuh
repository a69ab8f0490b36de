// The all-reduce of persistent kernels: every block of every device stores its sums at every
// device, and every block adds up all of them. Included by .cu files only.
#pragma once

#include <cstdint>

#include <krylith/solvers/persistent/persistent_kernel.hpp>
#include <krylith/vector/execution/kernel_context_cuda.cuh>

namespace krylith::cuda {

/// Stamped values of a device's blocks that each lane reads.
inline constexpr int values_a_lane = most_persistent_blocks / 32;

/// The shared memory of an all-reduce.
struct all_reduce_state {
    double warp_sums[persistent_sums][persistent_warps];
    double sums[persistent_sums][max_gpus];
    int failed; ///< 0 at first
};

/// Adds up `count` values over all threads of all blocks of all ranks; every thread gets the same
/// bits. With Publish, what the blocks of this device stored before is visible afterwards. A block
/// waits for all others. Returns false after a time-out.
template <int Most, bool Publish, class T>
__device__ bool all_reduce(const long_context& f, const persistent_arguments<T>& a,
                           all_reduce_state& s, std::uint64_t epoch, int count,
                           double (&values)[Most]) {
    const int warp = static_cast<int>(threadIdx.x / 32);
    const int lane = static_cast<int>(threadIdx.x & 31);
    const int ranks = f.all_reduce.ranks;
#pragma unroll
    for (int v = 0; v < Most; ++v) {
        if (v >= count) break;
        values[v] = warp_sum(values[v]); // in place: store_warp_sum makes a large kernel spill more
        if (lane == 0) s.warp_sums[v][warp] = values[v];
    }
    __syncthreads();
    if (warp == 0) {
        if constexpr (Publish) fence_acq_rel();
#pragma unroll
        for (int v = 0; v < Most; ++v) {
            if (v >= count) break;
            const double sum = warp_sum(lane < persistent_warps ? s.warp_sums[v][lane] : 0.0);
            if (lane < ranks)
                store_stamped(a.peer_slots[lane] + slot_of(epoch, ranks, f.all_reduce.rank, v,
                                                           static_cast<int>(blockIdx.x)),
                              {sum, epoch});
        }
    }
    // One warp adds one value of one rank, the last warp first, because warp 0 has just been busy.
    for (int item = persistent_warps - 1 - warp; item < ranks * count; item += persistent_warps) {
        const int rank = item / count;
        const int v = item - rank * count;
        const int blocks = a.blocks[rank];
        const stamped_value* from = a.own_slots + slot_of(epoch, ranks, rank, v, lane);
        stamped_value got[values_a_lane] = {};
        const auto arrived = [&] {
            bool all = true;
#pragma unroll
            for (int u = 0; u < values_a_lane; ++u)
                if (lane + u * 32 < blocks) got[u] = load_stamped(from + u * 32);
#pragma unroll
            for (int u = 0; u < values_a_lane; ++u)
                all = all && (lane + u * 32 >= blocks || got[u].epoch == epoch);
            return all;
        };
        const bool ok = __all_sync(0xffffffffu, wait_until(f.all_reduce, rank, arrived)) != 0;
        double sum = 0;
#pragma unroll
        for (int u = 0; u < values_a_lane; ++u) sum += got[u].value;
        sum = warp_sum(sum);
        if (lane == 0) {
            s.sums[v][rank] = sum;
            if (!ok) s.failed = 1;
            if constexpr (Publish) fence_acq_rel();
        }
    }
    __syncthreads();
#pragma unroll
    for (int v = 0; v < Most; ++v) {
        if (v >= count) break;
        values[v] = s.sums[v][0];
        for (int rank = 1; rank < ranks; ++rank) values[v] += s.sums[v][rank];
    }
    return s.failed == 0;
}

} // namespace krylith::cuda
