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
    double warp_sums[max_sums][block_warps];
    letter early[32]; ///< letters seen while the registers were loading, by lane of warp 0
    std::int32_t failure;
    int go;
};

// A batch for registers on a group of one device takes a short cut: the blocks' partial sums are
// left as they are, and every block of the kernel that needs them adds them up itself, in the same
// order. That spares the producer its last block: a fence, an atomic and a trip to memory, about
// 1.5 us. mailbox::published then holds the number of partial sums.

__device__ inline bool takes_short_cut(const frame& f) {
    return f.mail.ranks == 1 && f.batch > 0 && f.batch_array < 0;
}

/// A letter of the batch under way, or whatever is there yet. Both halves of the inbox are read
/// before the epoch is known: one trip to memory instead of two.
__device__ inline letter look_for_letter(const mailbox& mail, int v, int rank) {
    const letter even = load_letter(mail.inbox + mail.at(0, v, rank));
    const letter odd = load_letter(mail.inbox + mail.at(1, v, rank));
    return (*mail.published & 1) != 0 ? odd : even;
}

/// Lanes that share a value of a batch: a power of two that holds all ranks.
__device__ inline int lanes_a_value(const mailbox& mail) {
    int lanes = 1;
    while (lanes < mail.ranks) lanes *= 2;
    return lanes;
}

/// The batch under way, summed over the ranks in rank order; by warp 0. `take(v, sum)` is called by
/// one lane for each value.
template <class Take>
__device__ inline bool gather_batch(const frame& f, const frame_state& s, Take take) {
    const mailbox& mail = f.mail;
    const int lane = static_cast<int>(threadIdx.x & 31);
    const int group = lanes_a_value(mail);
    const int rank = lane & (group - 1);
    const std::uint64_t epoch = *mail.published;
    bool ok = true;
    for (int first = 0; first < f.batch; first += 32 / group) {
        const int v = first + lane / group;
        const bool mine = v < f.batch && rank < mail.ranks;
        double part = 0;
        if (mine) {
            letter there = first == 0 ? s.early[lane] : look_for_letter(mail, v, rank);
            if (there.epoch != epoch) {
                const letter* place = mail.inbox + mail.at(epoch, v, rank);
                ok = wait_until(mail, rank, [&] {
                    there = load_letter(place);
                    return there.epoch == epoch;
                });
            }
            part = there.value;
        }
        const int base = lane & ~(group - 1);
        double sum = __shfl_sync(0xffffffffu, part, base);
        for (int r = 1; r < mail.ranks; ++r) sum += __shfl_sync(0xffffffffu, part, base + r);
        if (mine && rank == 0) take(v, sum);
    }
    return ok;
}

/// Registers by warp 0; `meanwhile` is work whose own loads should be on their way as well.
template <class Meanwhile>
__device__ inline void load_registers(const frame& f, frame_state& s, Meanwhile meanwhile) {
    const int lane = static_cast<int>(threadIdx.x);
    std::int32_t failure = 0;
    double loaded = 0;
    int number = 0;
    if (lane < 32) {
        failure = load_relaxed(f.mail.failure);
        if (lane < f.program.load_count) {
            number = f.program.loads[lane].number;
            loaded = f.slots[f.program.loads[lane].slot];
        }
    }
    meanwhile();
    if (lane >= 32) return;
    if (lane < f.program.load_count) s.reg[number] = loaded;
    for (int i = lane + 32; i < f.program.load_count; i += 32)
        s.reg[f.program.loads[i].number] = f.slots[f.program.loads[i].slot];
    if (lane == 0) s.failure = failure;
    __syncwarp();
}

/// The work of begin() once the registers are loaded, by warp 0. Not inlined: its registers should
/// not add to the kernel's.
static __device__ __noinline__ void begin_warp(const frame& f, frame_state& s,
                                               double* array_values) {
    const int lane = static_cast<int>(threadIdx.x);
    const bool writer = blockIdx.x == 0;
    bool ok = true;
    bool go = s.failure == 0 && (!f.guarded || s.reg[control::state] == 0.0);
    if (go) {
        for (int w = 0; w < f.arrival_count; ++w) {
            const arrival& a = f.arrivals[w];
            if (lane < f.mail.ranks && (a.from >> lane & 1) != 0) {
                const std::uint64_t expected = *a.expected;
                ok = wait_until(f.mail, lane,
                                [&] { return load_acquire(a.sent + lane) >= expected; }) &&
                     ok;
            }
        }
        if (takes_short_cut(f)) {
            if (lane < f.batch) {
                double sum = 0;
                for (int w = 0; w < block_warps; ++w) sum += s.warp_sums[lane][w];
                s.reg[f.program.sums[lane]] = sum;
            }
        } else if (f.batch > 0) {
            ok = gather_batch(f, s, [&](int v, double sum) {
                     if (f.batch_array < 0) {
                         s.reg[f.program.sums[v]] = sum;
                     } else {
                         if (array_values != nullptr) array_values[v] = sum;
                         if (writer) f.array[f.batch_array + v] = sum;
                     }
                 }) &&
                 ok;
        }
        go = __all_sync(0xffffffffu, ok) != 0; // also orders the registers before run()
        if (lane == 0 && f.program.instruction_count != 0)
            run(f.program, s.reg, f.history, writer);
        __syncwarp();
        go = go && (!f.guarded || s.reg[control::state] == 0.0);
    }
    if (writer)
        for (int i = lane; i < f.program.store_count; i += 32)
            f.slots[f.program.stores[i].slot] = s.reg[f.program.stores[i].number];
    if (lane == 0) s.go = go ? 1 : 0;
}

/// The short cut: each warp's share of the sums, by the whole block. A kernel of 32 threads adds in
/// the order of 256.
__device__ inline void add_partials(const frame& f, frame_state& s) {
    const int lane = static_cast<int>(threadIdx.x & 31);
    for (int v = 0; v < f.batch; ++v)
        for (unsigned t = threadIdx.x; t < block_threads; t += blockDim.x) {
            const double* from = f.partials + static_cast<std::int64_t>(v) * f.partial_stride;
            const auto sums = static_cast<unsigned>(*f.mail.published);
            // Loaded before it is known how many there are: one trip to memory.
            constexpr int early = 3;
            double some[early];
#pragma unroll
            for (int k = 0; k < early; ++k) some[k] = __ldcg(from + t + k * block_threads);
            double part = 0;
#pragma unroll
            for (int k = 0; k < early; ++k) part += t + k * block_threads < sums ? some[k] : 0.0;
            for (unsigned i = t + early * block_threads; i < sums; i += block_threads)
                part += __ldcg(from + i);
            for (int offset = 16; offset > 0; offset /= 2)
                part += __shfl_down_sync(0xffffffffu, part, offset);
            if (lane == 0) s.warp_sums[v][t / 32] = part;
        }
}

static __device__ __noinline__ void begin_short_cut(const frame& f, frame_state& s) {
    load_registers(f, s, [&] { add_partials(f, s); });
}

static __device__ __noinline__ void begin_registers(const frame& f, frame_state& s) {
    load_registers(f, s, [&] {
        const int group = lanes_a_value(f.mail);
        const int lane = static_cast<int>(threadIdx.x);
        const int rank = lane & (group - 1);
        if (lane / group < f.batch && rank < f.mail.ranks)
            s.early[lane] = look_for_letter(f.mail, lane / group, rank);
    });
}

/// Returns, to the whole block, whether the kernel should do its work. Values of a batch for the
/// array are left in `array_values` (shared, may be null) too, since the array in memory is only
/// written here.
__device__ inline bool begin(const frame& f, frame_state& s, double* array_values = nullptr) {
    if (takes_short_cut(f)) {
        begin_short_cut(f, s);
        __syncthreads();
    } else if (threadIdx.x < 32) {
        begin_registers(f, s);
    }
    if (threadIdx.x < 32) begin_warp(f, s, array_values);
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

/// Adds to a counter of finished work and returns what it was; what the thread (and, before a
/// barrier, its block) wrote is visible to those that count later.
__device__ inline unsigned count_blocks(unsigned* counter, unsigned work) {
    unsigned before;
    asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], %2;"
                 : "=r"(before)
                 : "l"(counter), "r"(work)
                 : "memory");
    return before;
}

/// The last block to get here learns it. What all blocks wrote before is visible to it.
__device__ inline bool last_block(unsigned* arrivals) {
    __shared__ unsigned ticket;
    __syncthreads();
    if (threadIdx.x == 0) ticket = count_blocks(arrivals, 1);
    __syncthreads();
    return ticket == gridDim.x - 1;
}

/// By the last block: adds up the blocks' partial sums and posts them to every rank.
__device__ inline void post_batch(const frame& f, const reduction& out) {
    __shared__ double warp_sums[block_warps];
    const std::uint64_t epoch = *f.mail.published + 1;
    for (int v = 0; v < out.count; ++v) {
        double part = 0;
        const double* from = out.partials + static_cast<std::int64_t>(v) * f.partial_stride;
#pragma unroll 4
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

/// Ends a kernel that reduces Count values a thread for registers: block sums, then the last block
/// posts. Returns true in the last block, if there is one (several ranks).
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
    if (warp == 0) { // lane 0 writes all of them: last_block orders its stores
        double sum = 0;
#pragma unroll
        for (int v = 0; v < Count; ++v) {
            sum = lane < block_warps ? warp_sums[v][lane] : 0.0;
            for (int offset = block_warps / 2; offset > 0; offset /= 2)
                sum += __shfl_down_sync(0xffffffffu, sum, offset);
            if (lane == 0)
                out.partials[static_cast<std::int64_t>(v) * f.partial_stride + blockIdx.x] = sum;
        }
    }
    if (f.mail.ranks == 1) {
        if (threadIdx.x == 0 && blockIdx.x == 0) *f.mail.published = gridDim.x;
        return false;
    }
    const bool last = last_block(f.mail.arrivals);
    if (last) post_batch(f, out);
    return last;
}

} // namespace krylith::cuda
