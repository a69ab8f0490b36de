// Kernels that only need the kernel context: pending arithmetic, the loop's condition, a put by
// itself.

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/cuda/posted_words.cuh>
#include <krylith/vector/ghosts/ghost_put.cuh>
#include <krylith/vector/kernels/kernels.hpp>

namespace krylith::cuda {

namespace {

/// Posts the residuals of the trip that ends, by one warp.
__device__ void post_residuals(loop_board& board, const iteration_record& history,
                               std::uint64_t launch, double from, double to) {
    const std::int64_t most = min(history.mask + 1, std::int64_t{loop_posts});
    const auto last = static_cast<std::int64_t>(to);
    const std::int64_t first = max(static_cast<std::int64_t>(from), last - most) + 1;
    for (std::int64_t k = first + threadIdx.x; k <= last; k += 32)
        store_stamped(board.posts + k % loop_posts,
                      {history.at(static_cast<double>(k)),
                       post_stamp(launch, static_cast<std::uint64_t>(k))});
}

/// Returns the launch that the host wants to stop, as all ranks know it at the end of this trip;
/// 0: none. Sets `go` to false where rank 0 is not heard of.
__device__ std::uint64_t order_of_host(const all_reduce_slots& all_reduce, loop_watch& watch,
                                       bool& go) {
    std::uint64_t order = 0;
    if (watch.board != nullptr) order = load_relaxed(&watch.board->order);
    if (all_reduce.ranks == 1) return order;
    const std::uint64_t trip = watch.trips + 1;
    __syncwarp(); // all lanes have read it
    const int lane = static_cast<int>(threadIdx.x);
    if (lane == 0) watch.trips = trip;
    if (all_reduce.rank == 0)
        for (int r = lane; r < all_reduce.ranks; r += 32)
            store_stamped(watch.peer_orders[r] + (trip & 1), {static_cast<double>(order), trip});
    if (trip == 1) return 0;
    stamped_value before{};
    const bool there = wait_until(all_reduce, 0, [&] {
        before = load_stamped(watch.orders + ((trip - 1) & 1));
        return before.epoch >= trip - 1;
    });
    go = __all_sync(0xffffffffu, there) != 0;
    return static_cast<std::uint64_t>(before.value);
}

/// Ends a trip that the host watches. Returns whether the loop goes on.
__device__ bool end_trip(const long_context& context, const trip_end& end, const double* reg,
                         bool go) {
    loop_watch& watch = *end.watch;
    const auto launch = static_cast<std::uint64_t>(reg[control::watched]);
    if (watch.board != nullptr)
        post_residuals(*watch.board, context.history, launch, reg[control::posted],
                       reg[control::iteration]);
    const bool stop =
        end.decides && go && order_of_host(context.all_reduce, watch, go) == launch && go;
    if (threadIdx.x == 0) {
        context.slots[end.posted_slot] = reg[control::iteration];
        if (stop) context.slots[end.state_slot] = as_register(loop_state::stopped);
        if (watch.board != nullptr && (!go || stop || !end.decides))
            store_relaxed(&watch.board->ended, launch);
    }
    return go && !stop;
}

/// Posts what the kernels of this device, to which this is the last, have left in the registers.
__device__ void post_registers(const long_context& context, const register_post& posted) {
    __syncwarp(); // the warp has stored the registers
    if (threadIdx.x != 0) return;
    for (int i = 0; i < posted.count; ++i)
        posted.to.words[i] = __double_as_longlong(context.slots[posted.slots[i]]);
    posted.to.words[posted.count] = load_relaxed(context.failure);
    store_release(posted.to.posted, posted.to.number);
}

__global__ void scalars_kernel(const __grid_constant__ long_context parameter,
                               std::uint64_t condition, trip_end end,
                               const __grid_constant__ register_post posted) {
    __shared__ state_of<long_context> state;
    bool go = kernel_prologue(parameter, state);
    if (end.watch != nullptr && state.reg[control::watched] != 0.0)
        go = end_trip(state.context, end, state.reg, go);
    if (condition != 0 && threadIdx.x == 0) cudaGraphSetConditional(condition, go ? 1u : 0u);
    if (posted.wanted()) post_registers(state.context, posted);
}

template <class T>
__global__ void __launch_bounds__(block_threads)
    put_kernel(const __grid_constant__ compact_context parameter, const T* domain,
               const __grid_constant__ ghost_put<T> put) {
    __shared__ context_state state;
    const compact_context& context = state.context;
    if (!kernel_prologue(parameter, state)) return;
    give_credit(put);
    std::int32_t sent = 0;
    for (auto position = static_cast<std::int32_t>(blockIdx.x); position < put.sending_tiles;
         position += static_cast<std::int32_t>(gridDim.x))
        send_tile(context, put, position, domain, sent++ == 0);
    signal_put(put, sent);
}

/// Sends a domain vector by a dense put. Its entries are aligned as buffers are; where a vector
/// that the caller owns is not, they are loaded one by one.
template <class T>
__global__ void __launch_bounds__(block_threads)
    put_all_kernel(const __grid_constant__ compact_context parameter, const T* domain,
                   const __grid_constant__ ghost_put<T> put) {
    __shared__ context_state state;
    const compact_context& context = state.context;
    if (!kernel_prologue(parameter, state)) return;
    give_credit(put);
    await_credits(context, put);
    __syncthreads();
    const bool aligned = reinterpret_cast<std::uintptr_t>(domain) % sizeof(pack<T>) == 0;
    std::int32_t sent = 0;
    for (auto position = static_cast<std::int32_t>(blockIdx.x); position < put.sending_tiles;
         position += static_cast<std::int32_t>(gridDim.x), ++sent) {
        const std::int64_t first =
            static_cast<std::int64_t>(position) * tile_size<T> + threadIdx.x * pack_size<T>;
        if (first >= put.dense) continue;
        pack<T> entries;
        if (aligned && first + pack_size<T> <= put.dense) {
            entries = *reinterpret_cast<const pack<T>*>(domain + first);
        } else {
#pragma unroll
            for (int k = 0; k < pack_size<T>; ++k)
                entries.value[k] = first + k < put.dense ? domain[first + k] : T(0);
        }
        send_pack(put, entries, first);
    }
    signal_put(put, sent);
}

} // namespace

void scalars(device& device, const scalar_arguments& a) {
    const launch_scope launch(device);
    scalars_kernel<<<1, 32, 0, launch.stream()>>>(pack_context<long_context>(a.common), a.condition,
                                                  a.end, a.post);
    launch.check_launch();
}

template <class T>
void put(device& device, const kernel_context& common, const T* domain, std::int64_t,
         const ghost_put<T>& p) {
    const launch_scope launch(device);
    const auto kernel = p.dense != 0 ? put_all_kernel<T> : put_kernel<T>;
    kernel<<<launch.blocks(kernel, block_threads, p.sending_tiles), block_threads, 0,
             launch.stream()>>>(compact(common), domain, p);
    launch.check_launch();
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void put(device&, const kernel_context&, const T*, std::int64_t, const ghost_put<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
