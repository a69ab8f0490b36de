// Kernels that only need the frame: pending arithmetic, the loop's condition, a push by itself.

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/vector/ghosts/ghost_put.cuh>
#include <krylith/vector/kernels/kernels.hpp>
#include <krylith/vector/scalar/array_tasks.hpp>

namespace krylith::cuda {

namespace {

/// The 32 threads of a block perform a task together: array_tasks.hpp.
struct warp_of_threads {
    [[nodiscard]] __device__ int index() const { return static_cast<int>(threadIdx.x); }
    [[nodiscard]] __device__ int count() const { return 32; }
    __device__ void meet() const { __syncwarp(); }
    /// Over all threads, in a fixed order; the same in each of them.
    [[nodiscard]] __device__ double sum(double value) const {
        for (int offset = 16; offset > 0; offset /= 2)
            value += __shfl_xor_sync(0xffffffffu, value, offset);
        return value;
    }
};

__global__ void scalars_kernel(const __grid_constant__ long_frame parameter,
                               std::uint64_t condition, array_task task) {
    __shared__ state_of<long_frame> state;
    const bool go = begin(parameter, state);
    if (condition != 0 && threadIdx.x == 0) cudaGraphSetConditional(condition, go ? 1u : 0u);
    if (go) perform(task, state.f.array, state.f.slots, warp_of_threads{});
}

template <class T>
__global__ void __launch_bounds__(block_threads)
    push_kernel(const __grid_constant__ compact_frame parameter, const T* operand,
                const __grid_constant__ ghost_push<T> push) {
    __shared__ frame_state state;
    const compact_frame& f = state.f;
    if (!begin(parameter, state)) return;
    allow_next_push(push, f.ranks);
    std::int32_t sent = 0;
    for (auto turn = static_cast<std::int32_t>(blockIdx.x); turn < push.sending_tiles;
         turn += static_cast<std::int32_t>(gridDim.x))
        send_tile(f, push, turn, operand, sent++ == 0);
    finish_push(f, push, sent);
}

/// A dense push of an operand as it stands, which is aligned as buffers are or as vectors that
/// callers own: then entry by entry.
template <class T>
__global__ void __launch_bounds__(block_threads)
    push_all_kernel(const __grid_constant__ compact_frame parameter, const T* operand,
                    const __grid_constant__ ghost_push<T> push) {
    __shared__ frame_state state;
    const compact_frame& f = state.f;
    if (!begin(parameter, state)) return;
    allow_next_push(push, f.ranks);
    await_receivers(f, push);
    __syncthreads();
    const bool aligned = reinterpret_cast<std::uintptr_t>(operand) % sizeof(pack<T>) == 0;
    std::int32_t sent = 0;
    for (auto turn = static_cast<std::int32_t>(blockIdx.x); turn < push.sending_tiles;
         turn += static_cast<std::int32_t>(gridDim.x), ++sent) {
        const std::int64_t first =
            static_cast<std::int64_t>(turn) * tile_size<T> + threadIdx.x * pack_size<T>;
        if (first >= push.dense) continue;
        pack<T> entries;
        if (aligned && first + pack_size<T> <= push.dense) {
            entries = *reinterpret_cast<const pack<T>*>(operand + first);
        } else {
#pragma unroll
            for (int k = 0; k < pack_size<T>; ++k)
                entries.value[k] = first + k < push.dense ? operand[first + k] : T(0);
        }
        send_pack(f, push, entries, first);
    }
    finish_push(f, push, sent);
}

} // namespace

void scalars(device& where, const scalar_arguments& a) {
    const launch_scope launch(where);
    scalars_kernel<<<1, 32, 0, launch.stream()>>>(pack_frame<long_frame>(a.common), a.condition,
                                                  a.task);
    launch.check_launch();
}

template <class T>
void push(device& where, const frame& common, const T* operand, std::int64_t,
          const ghost_push<T>& p) {
    const launch_scope launch(where);
    const auto kernel = p.dense != 0 ? push_all_kernel<T> : push_kernel<T>;
    kernel<<<launch.blocks(kernel, block_threads, p.sending_tiles), block_threads, 0,
             launch.stream()>>>(compact(common), operand, p);
    launch.check_launch();
}

template void push(device&, const frame&, const double*, std::int64_t, const ghost_push<double>&);
template void push(device&, const frame&, const float*, std::int64_t, const ghost_push<float>&);

} // namespace krylith::cuda
