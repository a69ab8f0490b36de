// How a CUDA kernel begins and ends: the frame's waits and arithmetic, and the all-reduce.
#pragma once

#include <cstdint>

#include <krylith/device/peer_memory.cuh>
#include <krylith/vector/frame.hpp>

namespace krylith::cuda {

inline constexpr int block_threads = 256;
inline constexpr int block_warps = block_threads / 32;

/// Shared memory of a block for the frame.
struct frame_state {
    double reg[max_registers];
    int go;
};

/// The batch under way, summed over the ranks in rank order; by one warp. `take(v, sum)` is called
/// by one lane for each value. Both halves of the inbox are read before the epoch is known: one
/// trip to memory instead of two.
template <class Take>
__device__ inline bool gather_batch(const mailbox& mail, int count, Take take) {
    const int lane = threadIdx.x & 31;
    int group = 1; // lanes a value: a power of two that holds all ranks
    while (group < mail.ranks) group *= 2;
    const int rank = lane & (group - 1);
    const std::uint64_t* published = mail.published;
    bool ok = true;
    for (int first = 0; first < count; first += 32 / group) {
        const int v = first + lane / group;
        double part = 0;
        if (v < count && rank < mail.ranks) {
            const letter* even = mail.inbox + mail.at(0, v, rank);
            const letter* odd = mail.inbox + mail.at(1, v, rank);
            letter a = load_letter(even);
            letter b = load_letter(odd);
            const std::uint64_t epoch = *published;
            letter& mine = (epoch & 1) != 0 ? b : a;
            if (mine.epoch != epoch) {
                const letter* place = (epoch & 1) != 0 ? odd : even;
                ok = wait_until(mail, rank, [&] {
                    mine = load_letter(place);
                    return mine.epoch == epoch;
                });
            }
            part = mine.value;
        }
        const int base = lane & ~(group - 1);
        double sum = __shfl_sync(0xffffffffu, part, base);
        for (int r = 1; r < mail.ranks; ++r) sum += __shfl_sync(0xffffffffu, part, base + r);
        if (v < count && rank == 0) take(v, sum);
    }
    return __all_sync(0xffffffffu, ok) != 0;
}

/// Returns, to the whole block, whether the kernel should do its work. Values of a batch for the
/// array are left in `array_values` (shared, may be null) too, since the array in memory is only
/// written here.
__device__ inline bool begin(const frame& f, frame_state& s, double* array_values = nullptr) {
    if (threadIdx.x < 32) {
        const int lane = threadIdx.x;
        for (int i = lane; i < f.program.load_count; i += 32)
            s.reg[f.program.loads[i].number] = f.slots[f.program.loads[i].slot];
        __syncwarp();
        const bool writer = blockIdx.x == 0;
        bool go = !f.guarded || s.reg[control::state] == 0.0;
        if (go) {
            bool ok = true;
            for (int w = 0; w < f.arrival_count; ++w) {
                const arrival& a = f.arrivals[w];
                if (lane < f.mail.ranks && (a.from >> lane & 1) != 0) {
                    const std::uint64_t expected = *a.expected;
                    ok = wait_until(f.mail, lane,
                                    [&] { return load_acquire(a.sent + lane) >= expected; }) &&
                         ok;
                }
            }
            if (f.batch > 0)
                ok = gather_batch(f.mail, f.batch, [&](int v, double sum) {
                         if (f.batch_array < 0) {
                             s.reg[f.program.sums[v]] = sum;
                         } else {
                             if (array_values != nullptr) array_values[v] = sum;
                             if (writer) f.array[f.batch_array + v] = sum;
                         }
                     }) &&
                     ok;
            ok = __all_sync(0xffffffffu, ok) != 0;
            __syncwarp();
            if (lane == 0 && f.program.instruction_count != 0)
                run(f.program, s.reg, f.history, writer);
            __syncwarp();
            go = ok && (!f.guarded || s.reg[control::state] == 0.0);
        }
        if (writer)
            for (int i = lane; i < f.program.store_count; i += 32)
                f.slots[f.program.stores[i].slot] = s.reg[f.program.stores[i].number];
        if (lane == 0) s.go = go && load_relaxed(f.mail.failure) == 0 ? 1 : 0;
    }
    __syncthreads();
    return s.go != 0;
}

/// Sum over the block, valid in thread 0. The order is fixed.
__device__ inline double block_sum(double value, double* warp_sums) {
    for (int offset = 16; offset > 0; offset /= 2)
        value += __shfl_down_sync(0xffffffffu, value, offset);
    if ((threadIdx.x & 31) == 0) warp_sums[threadIdx.x / 32] = value;
    __syncthreads();
    double sum = 0;
    if (threadIdx.x == 0)
        for (int w = 0; w < block_warps; ++w) sum += warp_sums[w];
    __syncthreads();
    return sum;
}

/// The last block to get here learns it. Everything that the blocks wrote before is visible to it.
__device__ inline bool last_block(unsigned* arrivals) {
    __shared__ unsigned ticket;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        ticket = atomicAdd(arrivals, 1u);
        __threadfence();
    }
    __syncthreads();
    return ticket == gridDim.x - 1;
}

/// By the last block: adds up the blocks' partial sums and posts them to every rank.
__device__ inline void post_batch(const frame& f, const reduction& out) {
    __shared__ double warp_sums[block_warps];
    const std::uint64_t epoch = *f.mail.published + 1;
    for (int v = 0; v < out.count; ++v) {
        double part = 0;
        const double* from = out.partials + static_cast<std::int64_t>(v) * gridDim.x;
        for (unsigned b = threadIdx.x; b < gridDim.x; b += block_threads) part += __ldcg(from + b);
        double sum = block_sum(part, warp_sums);
        if (threadIdx.x < 32) {
            sum = __shfl_sync(0xffffffffu, sum, 0);
            if (static_cast<int>(threadIdx.x) < f.mail.ranks)
                store_letter(f.mail.outboxes[threadIdx.x] + f.mail.at(epoch, v, f.mail.rank),
                             {sum, epoch});
        }
    }
    if (threadIdx.x == 0) {
        *f.mail.published = epoch;
        *f.mail.arrivals = 0;
    }
}

/// Ends a kernel that reduces Count values a thread: block sums, then the last block posts.
/// Returns true in the last block.
template <int Count>
__device__ inline bool reduce_and_post(const frame& f, const reduction& out,
                                       const double (&values)[Count]) {
    __shared__ double warp_sums[Count][block_warps];
    const int lane = threadIdx.x & 31;
    const int warp = threadIdx.x / 32;
#pragma unroll
    for (int v = 0; v < Count; ++v) {
        double value = values[v];
        for (int offset = 16; offset > 0; offset /= 2)
            value += __shfl_down_sync(0xffffffffu, value, offset);
        if (lane == 0) warp_sums[v][warp] = value;
    }
    __syncthreads();
    if (threadIdx.x < Count) {
        double sum = 0;
        for (int w = 0; w < block_warps; ++w) sum += warp_sums[threadIdx.x][w];
        out.partials[static_cast<std::int64_t>(threadIdx.x) * gridDim.x + blockIdx.x] = sum;
        __threadfence();
    }
    const bool last = last_block(f.mail.arrivals);
    if (last) post_batch(f, out);
    return last;
}

} // namespace krylith::cuda
