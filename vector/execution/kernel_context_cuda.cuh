// The prologue and the epilogue of a CUDA kernel: the waits and the arithmetic of the kernel
// context, and the all-reduce.
#pragma once

#include <cstdint>

#include <krylith/comm/channel/await_count.cuh>
#include <krylith/device/cuda/block.cuh>
#include <krylith/device/kernel/peer_memory.cuh>
#include <krylith/vector/execution/compact_context.cuh>

namespace krylith::cuda {

/// Shared memory of a block for the kernel context.
template <class KernelContext>
struct state_of {
    KernelContext context; ///< a copy of the kernel's parameter
    double reg[max_registers];
    int go;
};

using context_state = state_of<compact_context>;

// A batch for registers on a group of one device takes a short cut: the blocks' partial sums stay
// as they are, and every block of the kernel that needs them adds them up itself, in the same
// order. That saves the last block of the producer: a fence, an atomic and a trip to memory, about
// 1.5 us. The number of partial sums stands before them (partials_header).

template <class KernelContext>
__device__ inline bool takes_short_cut(const KernelContext& context) {
    return context.all_reduce.ranks == 1 && context.batch > 0 && context.batch_array < 0;
}

/// Returns a stamped value of the batch under way, or whatever its slot holds. Both halves of its
/// slots are read before the epoch is known: one trip to memory instead of two.
template <class KernelContext>
__device__ inline stamped_value peek_stamped(const KernelContext& context, int v, int source) {
    const all_reduce_slots& all_reduce = context.all_reduce;
    const stamped_value even = load_stamped(context.own_slots + all_reduce.at(0, v, source));
    const stamped_value odd = load_stamped(context.own_slots + all_reduce.at(1, v, source));
    return (*context.published & 1) != 0 ? odd : even;
}

/// Waits for a value of the batch under way. The first block also looks for it in the inbox.
template <class KernelContext>
__device__ inline bool await_stamped(const KernelContext& context, std::uint64_t epoch, int v,
                                     int source, stamped_value& there) {
    const all_reduce_slots& all_reduce = context.all_reduce;
    const std::int64_t at = all_reduce.at(epoch, v, source);
    stamped_value* const own = context.own_slots + at;
    const stamped_value* const inbox =
        blockIdx.x == 0 && all_reduce.inbox != nullptr ? all_reduce.inbox + at : nullptr;
    return wait_until(all_reduce, all_reduce.awaited(source), [&] {
        there = load_stamped(own);
        if (there.epoch == epoch) return true;
        if (inbox == nullptr) return false;
        there = load_stamped(inbox);
        if (there.epoch != epoch) return false;
        store_stamped(own, there);
        return true;
    });
}

/// The number of lanes for one value of a batch: a power of two that is at least the number of
/// sources.
template <class KernelContext>
__device__ inline int lanes_a_value(const KernelContext& context) {
    int lanes = 1;
    while (lanes < context.sources) lanes *= 2;
    return lanes;
}

/// Sums the batch under way over its sources, in their order; warp 0 calls it. One lane calls
/// `take(v, sum)` for each value. `early` is what the lane read of the first 32 stamped values.
template <class KernelContext, class Take>
__device__ inline bool gather_batch(const KernelContext& context, stamped_value early, Take take) {
    const int lane = static_cast<int>(threadIdx.x & 31);
    const int group = lanes_a_value(context);
    const int source = lane & (group - 1);
    const std::uint64_t epoch = *context.published;
    bool ok = true;
    for (int first = 0; first < context.batch; first += 32 / group) {
        const int v = first + lane / group;
        const bool mine = v < context.batch && source < context.sources;
        double value = 0;
        if (mine) {
            stamped_value there = first == 0 ? early : peek_stamped(context, v, source);
            if (there.epoch != epoch) ok = await_stamped(context, epoch, v, source, there) && ok;
            value = there.value;
        }
        const int base = lane & ~(group - 1);
        double sum = __shfl_sync(0xffffffffu, value, base);
        for (int k = 1; k < context.sources; ++k) sum += __shfl_sync(0xffffffffu, value, base + k);
        if (mine && source == 0) take(v, sum);
    }
    return ok;
}

/// Adds up the partial sums of one value (the short cut); warp 0 calls it, and all its lanes get
/// the sum.
template <class KernelContext>
__device__ inline double add_partials(const KernelContext& context, int v) {
    const int lane = static_cast<int>(threadIdx.x);
    const double* from = context.partials + static_cast<std::int64_t>(v) * context.partial_stride;
    const auto sums = static_cast<int>(context.partials[-1]);
    // These are loaded before their number is known: one trip to memory.
    constexpr int early = 20;
    double some[early];
#pragma unroll
    for (int k = 0; k < early; ++k) some[k] = __ldcg(from + lane + k * 32);
    double partial = 0;
#pragma unroll
    for (int k = 0; k < early; ++k) partial += lane + k * 32 < sums ? some[k] : 0.0;
    for (int i = lane + early * 32; i < sums; i += 32) partial += __ldcg(from + i);
    return warp_sum(partial);
}

/// Performs the kernel context, by warp 0. Loads that don't depend on each other are in flight at
/// once. It is not inlined, so that its registers don't add to those of the kernel.
template <class KernelContext>
__device__ __noinline__ void prologue_warp(const KernelContext& parameter,
                                           state_of<KernelContext>& s, double* array_values) {
    // Each lane copies 16 bytes at a time, all lanes at once: reads one after the other, as the
    // members of the kernel context are needed, would take several trips to memory. Reading them
    // all by one lane costs a CG iteration on 64^3 0.6 us more.
    constexpr int words = sizeof(KernelContext) / sizeof(uint4);
    for (int i = static_cast<int>(threadIdx.x); i < words; i += 32)
        reinterpret_cast<uint4*>(&s.context)[i] = reinterpret_cast<const uint4*>(&parameter)[i];
    __syncwarp();
    const KernelContext& context = s.context;
    const int lane = static_cast<int>(threadIdx.x);
    const bool writer = blockIdx.x == 0;
    const std::int32_t failure = load_relaxed(context.failure);
    double loaded = 0;
    int number = 0;
    if (lane < context.load_count) {
        const scalar_place from = context.load(lane);
        number = from.number;
        loaded = context.slots[from.slot];
    }
    // The batch is read before it is known whether the loop has stopped, in which case it may never
    // have been sent: nothing waits for it here.
    const bool short_cut = takes_short_cut(context);
    stamped_value early{};
    if (!short_cut && context.batch > 0) {
        const int group = lanes_a_value(context);
        const int source = lane & (group - 1);
        if (lane / group < context.batch && source < context.sources)
            early = peek_stamped(context, lane / group, source);
    }
    double sum = 0; // lane v: value v
    if (short_cut)
        for (int v = 0; v < context.batch; ++v) {
            // All lanes get the sum: without the broadcast multi_axpy_kernel<float> takes 48
            // registers in place of 40.
            const double total = __shfl_sync(all_lanes, add_partials(context, v), 0);
            if (lane == v) sum = total;
        }
    if (lane < context.load_count) s.reg[number] = loaded;
    for (int i = lane + 32; i < context.load_count; i += 32)
        s.reg[context.load(i).number] = context.slots[context.load(i).slot];
    __syncwarp();

    bool go = failure == 0 && (!context.guarded || s.reg[control::state] == 0.0);
    if (go) {
        bool ok = true;
        for (int w = 0; w < context.signal_count; ++w) {
            const put_signal& a = context.signals[w];
            if (lane < a.senders)
                ok = await_count(context.all_reduce, a.sent[lane], *a.expected) && ok;
        }
        if (short_cut) {
            if (lane < context.batch) s.reg[context.sum(lane)] = sum;
        } else if (context.batch > 0) {
            ok = gather_batch(context, early,
                              [&](int v, double total) {
                                  if (context.batch_array < 0) {
                                      s.reg[context.sum(v)] = total;
                                  } else {
                                      if (array_values != nullptr) array_values[v] = total;
                                      if (writer) context.array[context.batch_array + v] = total;
                                  }
                              }) &&
                 ok;
        }
        go = __all_sync(0xffffffffu, ok) != 0; // also orders the registers before run()
        if (lane == 0 && context.instruction_count != 0)
            run(context, s.reg, context.history, writer, context.guarded);
        __syncwarp();
        go = go && (!context.guarded || s.reg[control::state] == 0.0);
    }
    if (writer)
        for (int i = lane; i < context.store_count; i += 32)
            context.slots[context.store(i).slot] = s.reg[context.store(i).number];
    if (lane == 0) s.go = go ? 1 : 0;
}

/// Returns, to the whole block, whether the kernel goes on. Warp 0 performs the kernel context
/// while the other warps call `meanwhile` (warp 0 calls it afterwards): loads that don't depend on
/// what the kernel context waits for. It is not the other way round because a call saves registers,
/// and that would wait for the loads into them. Values of a batch for the array are also left in
/// `array_values` (shared, may be null), since the array in memory is only written here.
template <class KernelContext, class Meanwhile>
__device__ inline bool kernel_prologue(const KernelContext& parameter, state_of<KernelContext>& s,
                                       double* array_values, Meanwhile meanwhile) {
    if (threadIdx.x < 32) prologue_warp(parameter, s, array_values);
    meanwhile();
    __syncthreads();
    return s.go != 0;
}

template <class KernelContext>
__device__ inline bool kernel_prologue(const KernelContext& context, state_of<KernelContext>& s,
                                       double* array_values = nullptr) {
    return kernel_prologue(context, s, array_values, [] {});
}

/// Stores a value of the batch that begins for every rank, or for the host: a thread each, which
/// all find the same sum.
template <class Sum>
__device__ inline void post_sum(const all_reduce_slots& all_reduce, int thread, std::uint64_t epoch,
                                int v, int count, Sum sum) {
    if (thread < all_reduce.sources)
        store_stamped(all_reduce.peer_slots[thread] +
                          all_reduce.at(epoch, v, all_reduce.own_source()),
                      {sum(), all_reduce.stamp(epoch, count)});
}

/// Adds up the blocks' partial sums and posts them to every rank; the last block calls it.
__device__ inline void post_batch(const compact_context& context, const reduction& out) {
    __shared__ double warp_sums[block_warps];
    const std::uint64_t epoch = *context.all_reduce.published + 1;
    for (int v = 0; v < out.count; ++v) {
        const double* from = out.partials + static_cast<std::int64_t>(v) * context.partial_stride;
        constexpr int early = 3; // in one trip to memory
        double some[early];
#pragma unroll
        for (int k = 0; k < early; ++k) some[k] = __ldcg(from + threadIdx.x + k * block_threads);
        double partial = 0;
#pragma unroll
        for (int k = 0; k < early; ++k)
            partial += threadIdx.x + k * block_threads < gridDim.x ? some[k] : 0.0;
        for (unsigned b = threadIdx.x + early * block_threads; b < gridDim.x; b += block_threads)
            partial += __ldcg(from + b);
        store_warp_sum(partial, warp_sums);
        __syncthreads();
        post_sum(context.all_reduce, static_cast<int>(threadIdx.x), epoch, v, out.count,
                 [&] { return sum_of_warps(warp_sums); });
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        *context.all_reduce.published = epoch;
        *context.all_reduce.signals = 0;
    }
}

/// Ends a kernel that reduces Count values a thread for registers: block sums, then the last block
/// posts. Returns true in the last block, if there is one (several ranks).
template <int Count>
__device__ inline bool reduce_and_post(const compact_context& context, const reduction& out,
                                       const double (&values)[Count]) {
    __shared__ double warp_sums[Count][block_warps];
    const int lane = lane_number();
#pragma unroll
    for (int v = 0; v < Count; ++v) store_warp_sum(values[v], warp_sums[v]);
    __syncthreads();
    if (threadIdx.x < 32) { // lane 0 writes all of them: last_block orders its stores
        double sum = 0;
#pragma unroll
        for (int v = 0; v < Count; ++v) {
            sum = warp_sum<block_warps>(lane < block_warps ? warp_sums[v][lane] : 0.0);
            if (lane == 0)
                out.partials[static_cast<std::int64_t>(v) * context.partial_stride + blockIdx.x] =
                    sum;
        }
    }
    if (context.all_reduce.ranks == 1) {
        if (threadIdx.x == 0 && blockIdx.x == 0) out.partials[-1] = gridDim.x;
        return false;
    }
    const bool last = last_block(context.all_reduce.signals);
    if (last) post_batch(context, out);
    return last;
}

} // namespace krylith::cuda
