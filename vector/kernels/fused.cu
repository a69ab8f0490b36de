// Kernels of the fused update: one instance for each known shape, and one for any shape.

#include <concepts>
#include <utility>

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/vector/ghosts/ghost_put.cuh>
#include <krylith/vector/kernels/fused_shapes.hpp>
#include <krylith/vector/kernels/kernels.hpp>

namespace krylith::cuda {

namespace {

/// Loads entries of vector `number`, which is of type U, from `first` on; those beyond the end are
/// 0.
template <class U, int Count, class Operands>
__device__ void load_pack(pack<U, Count>& entries, const Operands& a, int number,
                          std::int64_t first) {
    if (first + Count <= a.size) {
        entries = *reinterpret_cast<const pack<U, Count>*>(
            static_cast<const U*>(a.vectors[number]) + first);
    } else {
#pragma unroll
        for (int k = 0; k < Count; ++k)
            entries.value[k] =
                first + k < a.size ? static_cast<const U*>(a.vectors[number])[first + k] : U(0);
    }
}

template <class U, int Count, class Operands>
__device__ void store_pack(const pack<U, Count>& entries, const Operands& a, int number,
                           std::int64_t first) {
    if (first + Count <= a.size) {
        *reinterpret_cast<pack<U, Count>*>(static_cast<U*>(a.vectors[number]) + first) = entries;
    } else {
#pragma unroll
        for (int k = 0; k < Count; ++k)
            if (first + k < a.size)
                static_cast<U*>(a.vectors[number])[first + k] = entries.value[k];
    }
}

/// The entries of one tile that one thread has: pack_size<T> consecutive entries of each vector. A
/// vector of float in an update in double has as many, in `narrow`; they are widened where they are
/// read and rounded where they are assigned to.
template <class T, int Index>
struct fragment {
    static constexpr int count = pack_size<T>;
    pack<T> v[known_shapes[Index].vectors];
    pack<float, count> narrow[known_shapes[Index].vectors];

    template <class Put>
    __device__ void load(const fused_operands<T, Put>& a, std::int64_t first) {
        constexpr fused_shape shape = known_shapes[Index];
#pragma unroll
        for (int i = 0; i < shape.vectors; ++i) {
            if ((shape.loaded() >> i & 1) == 0) continue;
            if (shape.is_single(i))
                load_pack(narrow[i], a, i, first);
            else
                load_pack(v[i], a, i, first);
        }
    }

    [[nodiscard]] __device__ T entry(int vector, int k) const {
        constexpr fused_shape shape = known_shapes[Index];
        return shape.is_single(vector) ? static_cast<T>(narrow[vector].value[k])
                                       : v[vector].value[k];
    }

    __device__ void compute(const T* c) {
        constexpr fused_shape shape = known_shapes[Index];
#pragma unroll
        for (int s = 0; s < shape.statements; ++s) {
            pack<T> result;
#pragma unroll
            for (int k = 0; k < count; ++k) {
                T sum = 0;
#pragma unroll
                for (int t = 0; t < shape.statement[s].terms; ++t) {
                    const auto in = shape.statement[s].term[t];
                    T x = entry(in.vector, k);
                    if (in.scale >= 0) x *= entry(in.scale < 0 ? 0 : in.scale, k);
                    if (in.coefficient >= 0) {
                        const T factor = c[in.coefficient < 0 ? 0 : in.coefficient];
                        sum = t == 0 ? (in.negative ? -factor * x : factor * x)
                                     : sum + (in.negative ? -factor : factor) * x;
                    } else {
                        sum = t == 0 ? (in.negative ? -x : x) : in.negative ? sum - x : sum + x;
                    }
                }
                result.value[k] = sum;
            }
            const int target = shape.statement[s].target;
            if (shape.is_single(target)) {
#pragma unroll
                for (int k = 0; k < count; ++k)
                    narrow[target].value[k] = static_cast<float>(result.value[k]);
            } else {
                v[target] = result;
            }
        }
    }

    template <class Put>
    __device__ void store(const fused_operands<T, Put>& a, std::int64_t first) const {
        constexpr fused_shape shape = known_shapes[Index];
#pragma unroll
        for (int i = 0; i < shape.vectors; ++i) {
            if ((shape.stored() >> i & 1) == 0) continue;
            if (shape.is_single(i))
                store_pack(narrow[i], a, i, first);
            else
                store_pack(v[i], a, i, first);
        }
    }

    /// The entries of vector `number`, which is of type U and assigned to.
    template <class U>
    [[nodiscard]] __device__ pack<U, count> stored(int number) const {
        constexpr fused_shape shape = known_shapes[Index];
        if constexpr (std::same_as<T, U>) {
            pack<T> result = v[shape.statement[0].target];
#pragma unroll
            for (int s = 1; s < shape.statements; ++s)
                if (shape.statement[s].target == number) result = v[shape.statement[s].target];
            return result;
        } else {
            pack<U, count> result = narrow[shape.statement[0].target];
#pragma unroll
            for (int s = 1; s < shape.statements; ++s)
                if (shape.statement[s].target == number) result = narrow[shape.statement[s].target];
            return result;
        }
    }

    template <class Put>
    __device__ void add_dots(const fused_operands<T, Put>& a, std::int64_t first,
                             double* dots) const {
        constexpr fused_shape shape = known_shapes[Index];
#pragma unroll
        for (int k = 0; k < count; ++k) {
            if (first + k < a.first_owned || first + k >= a.last_owned) continue;
#pragma unroll
            for (int d = 0; d < shape.dots; ++d)
                dots[d] += static_cast<double>(entry(shape.dot[d].a, k)) *
                           static_cast<double>(entry(shape.dot[d].b, k));
        }
    }
};

/// Blocks of a multiprocessor: 64 registers a thread, for two tiles in flight. 6 blocks cost 12%.
constexpr int fused_blocks_per_sm = 4;

/// The tile of float that a put lists has twice the entries of a tile of double. A pass in double
/// then takes both halves of one tile where it takes two tiles otherwise.
template <class T, class Put>
inline constexpr bool in_halves = sizeof(T) != sizeof(Put);

/// The kernel of a known shape. Each thread has two tiles in flight; the first two are loaded while
/// the scalars are on their way.
template <class T, class Put, int Index>
__global__ void __launch_bounds__(block_threads, fused_blocks_per_sm)
    fused_kernel(const __grid_constant__ compact_context parameter,
                 const __grid_constant__ fused_operands<T, Put> a) {
    constexpr fused_shape shape = known_shapes[Index];
    __shared__ context_state state;
    const compact_context& context = state.context; // complete after the prologue
    constexpr bool halves = in_halves<T, Put>;
    const auto tiles = static_cast<std::int32_t>((a.size + tile_size<Put> - 1) / tile_size<Put>);
    const auto stride = static_cast<std::int32_t>(gridDim.x);
    const bool sends = a.put_index >= 0;
    const bool dense = sends && a.put.dense != 0;
    const bool listed = sends && a.put.tile_order != nullptr;
    const auto tile_at = [&](std::int32_t position) {
        return listed && position < tiles ? a.put.tile_order[position] : position;
    };
    const auto entry = [&](std::int32_t tile) {
        return static_cast<std::int64_t>(tile) * tile_size<Put> + threadIdx.x * pack_size<T>;
    };

    fragment<T, Index> one;
    fragment<T, Index> two;
    auto position = static_cast<std::int32_t>(blockIdx.x);
    std::int32_t tile_one = tile_at(position);
    std::int32_t tile_two = tile_at(position + stride);
    std::int64_t first = 0;
    std::int64_t second = 0;
    const auto load = [&] {
        if (position < tiles) one.load(a, first = entry(tile_one));
        // The next tiles are looked up one iteration ahead.
        if constexpr (halves) {
            if (position < tiles) two.load(a, second = first + tile_size<T>);
            tile_one = tile_at(position + stride);
        } else {
            if (position + stride < tiles) two.load(a, second = entry(tile_two));
            tile_one = tile_at(position + 2 * stride);
            tile_two = tile_at(position + 3 * stride);
        }
    };
    // Vectors that peers write are loaded after the prologue, which waits for them; others are
    // loaded during the prologue.
    const bool early = parameter.signal_count == 0;
    const bool go = kernel_prologue(parameter, state, nullptr, [&] {
        if (early) load();
    });
    if (!go) return;
    if (!early) load();
    if (sends) give_credit(a.put);
    if (dense) {
        await_credits(context, a.put);
        __syncthreads();
    }

    T c[shape.coefficients > 0 ? shape.coefficients : 1];
#pragma unroll
    for (int i = 0; i < shape.coefficients; ++i)
        c[i] = static_cast<T>(state.reg[a.coefficients[i]]);
    double dots[shape.dots > 0 ? shape.dots : 1] = {};
    std::int32_t sent = 0;
    while (position < tiles) {
        const bool both = halves || position + stride < tiles;
        one.compute(c);
        one.store(a, first);
        if (dense) send_pack(a.put, one.template stored<Put>(a.put_index), first);
        one.add_dots(a, first, dots);
        if (both) {
            two.compute(c);
            two.store(a, second);
            if (dense) send_pack(a.put, two.template stored<Put>(a.put_index), second);
            two.add_dots(a, second, dots);
        }
        if (dense) {
            sent += both && !halves ? 2 : 1;
        } else if (sends) {
            if (position < a.put.sending_tiles)
                send_tile(context, a.put, position, static_cast<const Put*>(a.vectors[a.put_index]),
                          sent++ == 0);
            if (!halves && both && position + stride < a.put.sending_tiles)
                send_tile(context, a.put, position + stride,
                          static_cast<const Put*>(a.vectors[a.put_index]), sent++ == 0);
        }
        position += halves ? stride : 2 * stride;
        load();
    }
    if (sends) signal_put(a.put, sent);
    if constexpr (shape.dots > 0) reduce_and_post(context, a.reduce, dots);
}

/// The kernel of any shape and any alignment: one entry for each thread, vectors in shared memory.
template <class T, class Put, bool Mixed>
__global__ void __launch_bounds__(block_threads)
    any_fused_kernel(const __grid_constant__ compact_context parameter,
                     const __grid_constant__ fused_operands<T, Put> a) {
    __shared__ context_state state;
    const compact_context& context = state.context; // complete after the prologue
    __shared__ T v[max_fused_vectors][block_threads];
    if (!kernel_prologue(parameter, state)) return;
    const bool sends = a.put_index >= 0;
    if (sends) give_credit(a.put);
    const bool dense = sends && a.put.dense != 0;
    if (dense) {
        await_credits(context, a.put);
        __syncthreads();
    }
    const auto tiles = static_cast<std::int32_t>((a.size + tile_size<Put> - 1) / tile_size<Put>);
    const std::uint32_t loaded = a.shape.loaded();
    const std::uint32_t stored = a.shape.stored();
    const unsigned me = threadIdx.x;
    double dots[max_fused_dots] = {};
    std::int32_t sent = 0;
    for (auto position = static_cast<std::int32_t>(blockIdx.x); position < tiles;
         position += static_cast<std::int32_t>(gridDim.x)) {
        const std::int32_t tile =
            sends && a.put.tile_order != nullptr ? a.put.tile_order[position] : position;
        for (int start = 0; start < tile_size<Put>; start += block_threads) {
            const std::int64_t i = static_cast<std::int64_t>(tile) * tile_size<Put> + start + me;
            if (i >= a.size) continue;
            for (int k = 0; k < a.shape.vectors; ++k)
                if ((loaded >> k & 1) != 0)
                    v[k][me] = Mixed && a.shape.is_single(k)
                                   ? static_cast<T>(static_cast<const float*>(a.vectors[k])[i])
                                   : static_cast<const T*>(a.vectors[k])[i];
            for (int s = 0; s < a.shape.statements; ++s) {
                const auto& to = a.shape.statement[s];
                T sum = 0;
                for (int t = 0; t < to.terms; ++t) {
                    const auto& in = to.term[t];
                    T x = v[in.vector][me];
                    if (in.scale >= 0) x *= v[in.scale][me];
                    if (in.coefficient >= 0)
                        x *= static_cast<T>(state.reg[a.coefficients[in.coefficient]]);
                    sum += in.negative ? -x : x;
                }
                v[to.target][me] = Mixed && a.shape.is_single(to.target)
                                       ? static_cast<T>(static_cast<float>(sum))
                                       : sum;
            }
            for (int k = 0; k < a.shape.vectors; ++k)
                if ((stored >> k & 1) != 0) {
                    if (Mixed && a.shape.is_single(k))
                        static_cast<float*>(a.vectors[k])[i] = static_cast<float>(v[k][me]);
                    else
                        static_cast<T*>(a.vectors[k])[i] = v[k][me];
                }
            if (dense)
                for_receivers(
                    a.put, [&](Put* ghosts) { ghosts[i] = static_cast<Put>(v[a.put_index][me]); });
            if (i >= a.first_owned && i < a.last_owned)
#pragma unroll
                for (int d = 0; d < max_fused_dots; ++d)
                    if (d < a.shape.dots)
                        dots[d] += static_cast<double>(v[a.shape.dot[d].a][me]) *
                                   static_cast<double>(v[a.shape.dot[d].b][me]);
        }
        if (dense)
            ++sent;
        else if (sends && position < a.put.sending_tiles)
            send_tile(context, a.put, position, static_cast<const Put*>(a.vectors[a.put_index]),
                      sent++ == 0);
    }
    if (sends) signal_put(a.put, sent);
    if (a.shape.dots > 0) reduce_and_post(context, a.reduce, dots);
}

/// Whether each vector's packs can be loaded as a whole.
template <class T, class Put>
bool aligned(const fused_operands<T, Put>& a) {
    for (int i = 0; i < a.shape.vectors; ++i) {
        const std::size_t entry = a.shape.is_single(i) ? sizeof(float) : sizeof(T);
        if (reinterpret_cast<std::uintptr_t>(a.vectors[i]) % (pack_size<T> * entry) != 0)
            return false;
    }
    return true;
}

/// Whether an update of this shape that computes in T and sends a vector of Put may exist.
template <class T, class Put>
constexpr bool possible(const fused_shape& shape) {
    if (std::same_as<T, Put>) return !shape.mixed() || std::same_as<T, double>;
    return (shape.stored() & shape.single) != 0;
}

template <class T, class Put>
using fused_kernel_pointer = void (*)(const compact_context, const fused_operands<T, Put>);

template <class T, class Put, int Index>
bool take_known(const fused_operands<T, Put>& a, fused_kernel_pointer<T, Put>& kernel) {
    if constexpr (possible<T, Put>(known_shapes[Index])) {
        if (a.shape != known_shapes[Index]) return false;
        kernel = fused_kernel<T, Put, Index>;
        return true;
    }
    return false;
}

template <class T, class Put, int... Index>
auto kernel_for(const fused_operands<T, Put>& a, std::integer_sequence<int, Index...>) {
    fused_kernel_pointer<T, Put> kernel = any_fused_kernel<T, Put, !std::same_as<T, Put>>;
    if constexpr (std::same_as<T, Put> && std::same_as<T, double>)
        if (a.shape.mixed()) kernel = any_fused_kernel<T, Put, true>;
    if (aligned(a)) (void)(take_known<T, Put, Index>(a, kernel) || ...);
    return kernel;
}

} // namespace

template <class T, class Put>
void fused(device& device, const fused_arguments<T, Put>& a) {
    const launch_scope launch(device);
    const std::int64_t tiles = (a.size + tile_size<Put> - 1) / tile_size<Put>;
    const auto kernel = kernel_for<T, Put>(
        a, std::make_integer_sequence<int, static_cast<int>(known_shapes.size())>{});
    kernel<<<launch.blocks(kernel, block_threads, tiles), block_threads, 0, launch.stream()>>>(
        compact(a.common), a);
    launch.check_launch();
}

template void fused(device&, const fused_arguments<double, float>&);
#define KRYLITH_INSTANTIATE(T) template void fused(device&, const fused_arguments<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
