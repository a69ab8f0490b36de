// The passes over the basis of GMRES for several right-hand sides on GPUs. The grid's stride and
// all tiles are multiples of the columns: a thread keeps one column to the end. With one column in
// place of two it keeps the sums of twice as many basis vectors, so that u and w are read again
// half as often.

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/solvers/joint/column_basis.hpp>
#include <krylith/sparse/csr/column_counts.hpp>
#include <krylith/vector/execution/context_after.hpp>
#include <krylith/vector/execution/kernel_context_cuda.cuh>
#include <krylith/vector/ghosts/ghost_put.hpp>
#include <krylith/vector/kernels/array_task.cuh>

namespace krylith::cuda {

namespace {

/// The number of vectors whose sums a thread keeps in registers: u and w are read count / at_once
/// times.
inline constexpr int at_once = 12;

/// The column of this thread.
template <int K>
[[nodiscard]] __device__ inline int own_column() {
    return static_cast<int>(threadIdx.x) % K;
}

/// Adds up what the lanes of a warp have of a column; the first K lanes hold the sums.
template <int K>
[[nodiscard]] __device__ inline double column_sum(double value) {
#pragma unroll
    for (int distance = 16; distance >= K; distance /= 2)
        value += __shfl_xor_sync(all_lanes, value, distance);
    return value;
}

/// Leaves the sums of this block. `Products` is 2 with w, else 1.
template <class T, int K, int Products>
__global__ void __launch_bounds__(block_threads, 2)
    dots_kernel(const __grid_constant__ compact_context parameter,
                const __grid_constant__ column_basis_operands<T> a) {
    constexpr int sets = Products * at_once + Products - 1; // of u, of w, w'w
    __shared__ context_state state;
    __shared__ double warp_sums[sets][block_warps][K];
    const compact_context& context = state.context; // complete after the prologue
    if (!kernel_prologue(parameter, state)) return;
    const int values = a.at.values(a.count - 1);
    const std::int64_t start = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * block_threads;
    const std::int64_t size = a.entries();
    const T* const u = a.basis[a.count - 1];
    for (int base = 0; base < a.count; base += at_once) {
        const T* from[at_once];
#pragma unroll
        for (int j = 0; j < at_once; ++j) from[j] = base + j < a.count ? a.basis[base + j] : u;
        double sum[sets] = {};
        for (std::int64_t i = start; i < size; i += step) {
            const double of_u = static_cast<double>(u[i]);
            double of_w = 0;
            if constexpr (Products == 2) of_w = static_cast<double>(a.w[i]);
#pragma unroll
            for (int j = 0; j < at_once; ++j) {
                if (base + j >= a.count) continue;
                const double v = static_cast<double>(from[j][i]);
                sum[j] += v * of_u;
                if constexpr (Products == 2) sum[at_once + j] += v * of_w;
            }
            if constexpr (Products == 2) sum[2 * at_once] += of_w * of_w;
        }
#pragma unroll
        for (int v = 0; v < sets; ++v) {
            const double of_warp = column_sum<K>(sum[v]);
            if (lane_number() < K) warp_sums[v][threadIdx.x / 32][lane_number()] = of_warp;
        }
        __syncthreads();
        for (int i = static_cast<int>(threadIdx.x); i < sets * K; i += block_threads) {
            const int v = i / K;
            const int c = i % K;
            const int k = base + v % at_once; // the basis vector, but for w'w
            const bool squares = v == 2 * at_once;
            if (squares ? base != 0 : k >= a.count) continue;
            const int place = squares ? 2 * a.count : v < at_once ? k : a.count + k;
            double of_block = 0;
#pragma unroll
            for (int w = 0; w < block_warps; ++w) of_block += warp_sums[v][w][c];
            a.reduce
                .partials[static_cast<std::int64_t>(c * values + place) * context.partial_stride +
                          blockIdx.x] = of_block;
        }
        __syncthreads(); // read before they are written again
    }
}

/// Adds up the sums that `blocks` blocks have left, a warp a value, and posts them to every rank. A
/// batch has hundreds of values, too many for the last block of the pass alone.
__global__ void __launch_bounds__(block_threads)
    sum_kernel(const __grid_constant__ compact_context parameter, reduction reduce,
               unsigned blocks) {
    __shared__ context_state state;
    const compact_context& context = state.context; // complete after the prologue
    if (!kernel_prologue(parameter, state)) return;
    const std::uint64_t epoch = *context.all_reduce.published + 1;
    const int lane = lane_number();
    const int v = static_cast<int>(blockIdx.x * block_warps + threadIdx.x / 32);
    if (v < reduce.count) {
        const double* from =
            reduce.partials + static_cast<std::int64_t>(v) * context.partial_stride;
        double sum = 0;
#pragma unroll 8
        for (unsigned b = lane; b < blocks; b += 32) sum += __ldcg(from + b);
        sum = warp_sum(sum);
        post_sum(context.all_reduce, lane, epoch, v, reduce.count, [&] { return sum; });
    }
    if (last_block(context.all_reduce.signals) && threadIdx.x == 0) { // all have read the epoch
        *context.all_reduce.published = epoch;
        *context.all_reduce.signals = 0;
    }
}

/// The number of entries of a tile that a thread has.
template <class T>
inline constexpr int entries = tile_size<T> / block_threads;

/// The basis vectors whose coefficients are in shared memory at once; those of a longer basis are
/// loaded anew for each tile.
inline constexpr int most_coefficients = 64;
/// The distance between the coefficients of neighbouring columns: odd, so that they are in
/// different banks.
inline constexpr int coefficient_stride = most_coefficients + 1;

/// Loads the coefficients of vectors [first, first + count) for all columns; those of column c lie
/// at from + c * distance.
template <int K>
__device__ inline void load_coefficients(double (&to)[K * coefficient_stride], const double* from,
                                         std::int64_t distance, int first, int count) {
    for (int i = static_cast<int>(threadIdx.x); i < K * count; i += block_threads)
        to[i / count * coefficient_stride + i % count] =
            from[i / count * distance + first + i % count];
}

/// The entries of a thread in a tile; one behind the end is read, but not written.
template <class T>
struct column_tile {
    std::int64_t at[entries<T>];
    bool there[entries<T>];

    __device__ column_tile(std::int64_t tile, std::int64_t size, int columns) {
        const std::int64_t first = tile * tile_size<T> + threadIdx.x;
#pragma unroll
        for (int e = 0; e < entries<T>; ++e) {
            at[e] = first + e * block_threads;
            there[e] = at[e] < size;
            if (!there[e]) at[e] = size - columns + threadIdx.x % static_cast<unsigned>(columns);
        }
    }
};

template <class T, int K>
__global__ void __launch_bounds__(block_threads, 4)
    update_kernel(const __grid_constant__ compact_context parameter,
                  const __grid_constant__ column_basis_operands<T> a) {
    __shared__ context_state state;
    __shared__ double s[K * coefficient_stride];
    __shared__ double t[K * coefficient_stride];
    const compact_context& context = state.context; // complete after the prologue
    if (!kernel_prologue(parameter, state)) return;
    const int before = a.count - 1;
    const int values = a.at.values(before);
    const double* const batch = context.array + a.at.batch();
    const auto load = [&](int first) {
        const int count = min(most_coefficients, before - first);
        load_coefficients<K>(s, batch, values, first, count);
        load_coefficients<K>(t, batch + a.count, values, first, count);
        __syncthreads();
    };
    load(0);
    const int c = own_column<K>();
    const double* const own = batch + c * values;
    const double inverse = own[before];
    const double along = own[a.count + before];
    const double scale = own[2 * a.count];
    const bool moves = inverse != 0 || scale != 0; // else the column leaves zeros
    const T factor = a.inverse_factor(context.array, c);
    T* const u = a.basis[before];
    T* const next = a.basis[a.count];
    const std::int64_t size = a.entries();
    const std::int64_t tiles = (size + tile_size<T> - 1) / tile_size<T>;
    for (std::int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const column_tile<T> mine(tile, size, K);
        double of_u[entries<T>];
        double of_w[entries<T>];
#pragma unroll
        for (int e = 0; e < entries<T>; ++e) {
            of_u[e] = static_cast<double>(u[mine.at[e]]);
            of_w[e] = static_cast<double>(a.w[mine.at[e]]);
        }
        for (int first = 0; first < before; first += most_coefficients) {
            if (before > most_coefficients) {
                __syncthreads(); // all have used those before
                load(first);
            }
            const int count = min(most_coefficients, before - first);
#pragma unroll 4
            for (int k = 0; k < count; ++k) {
                const T* const v = a.basis[first + k];
                const double s_k = s[c * coefficient_stride + k];
                const double t_k = t[c * coefficient_stride + k];
#pragma unroll
                for (int e = 0; e < entries<T>; ++e) {
                    const double value = static_cast<double>(v[mine.at[e]]);
                    of_u[e] -= s_k * value;
                    of_w[e] -= t_k * value;
                }
            }
        }
#pragma unroll
        for (int e = 0; e < entries<T>; ++e) {
            if (!mine.there[e]) continue;
            const T ended = moves ? static_cast<T>(inverse * of_u[e]) : T(0);
            const T candidate =
                moves ? static_cast<T>(scale * (of_w[e] - along * static_cast<double>(ended)))
                      : T(0);
            u[mine.at[e]] = ended;
            next[mine.at[e]] = candidate;
            if (a.to == nullptr) continue;
            const T d = a.inverse_diagonal != nullptr ? a.inverse_diagonal[mine.at[e] / K] : T(1);
            a.to[mine.at[e]] = factor * d * candidate;
        }
    }
}

template <class T, int K>
__global__ void __launch_bounds__(block_threads, 4)
    combine_kernel(const __grid_constant__ compact_context parameter,
                   const __grid_constant__ column_basis_operands<T> a) {
    __shared__ context_state state;
    __shared__ double y[K * coefficient_stride];    // negative
    const compact_context& context = state.context; // complete after the prologue
    if (!kernel_prologue(parameter, state)) return;
    const double* const steps = context.array + a.at.columns().own(column_cycle_places::steps);
    const int c = own_column<K>();
    const T factor = a.inverse_factor(context.array, c);
    const auto steps_here = static_cast<int>(steps[c]);
    int most = 0;
#pragma unroll
    for (int j = 0; j < K; ++j) most = max(most, static_cast<int>(steps[j]));
    const auto load = [&](int first) {
        load_coefficients<K>(y, context.array + a.at.solution(0), a.at.layout().size(), first,
                             min(most_coefficients, most - first));
        __syncthreads();
    };
    if (most == 0) return; // no column has found anything
    load(0);
    const std::int64_t size = a.entries();
    const std::int64_t tiles = (size + tile_size<T> - 1) / tile_size<T>;
    for (std::int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const column_tile<T> mine(tile, size, K);
        double sum[entries<T>] = {};
        for (int first = 0; first < most; first += most_coefficients) {
            if (most > most_coefficients) {
                __syncthreads(); // all have used those before
                load(first);
            }
            const int count = min(most_coefficients, steps_here - first); // may be negative
#pragma unroll 4
            for (int k = 0; k < count; ++k) {
                const T* const v = a.basis[first + k];
                const double y_k = y[c * coefficient_stride + k];
#pragma unroll
                for (int e = 0; e < entries<T>; ++e)
                    sum[e] -= y_k * static_cast<double>(v[mine.at[e]]);
            }
        }
        if (steps_here == 0) continue; // no barrier follows in this tile
#pragma unroll
        for (int e = 0; e < entries<T>; ++e) {
            if (!mine.there[e]) continue;
            const T d = a.inverse_diagonal != nullptr ? a.inverse_diagonal[mine.at[e] / K] : T(1);
            a.to[mine.at[e]] += factor * d * static_cast<T>(sum[e]);
        }
    }
}

/// One block with a warp a column.
__global__ void __launch_bounds__(32 * max_columns)
    task_kernel(const __grid_constant__ long_context parameter, cycle_task task) {
    __shared__ state_of<long_context> state;
    __shared__ int running;
    if (threadIdx.x == 0) running = 0;
    if (!kernel_prologue(parameter, state)) return; // with a barrier
    const long_context& context = state.context;
    const bool goes_on =
        perform(task, context.array, static_cast<int>(threadIdx.x / 32), warp_team{});
    if (goes_on && lane_number() == 0) atomicAdd(&running, 1);
    __syncthreads();
    if (threadIdx.x == 0 && !task.solves()) context.slots[task.slot] = running;
}

template <class T, int K, int Products>
void run_dots(const launch_scope& launch, const column_basis_arguments<T>& a) {
    const auto kernel = dots_kernel<T, K, Products>;
    const unsigned blocks =
        launch.blocks(kernel, block_threads, (a.entries() + block_threads - 1) / block_threads);
    const column_basis_operands<T>& operands = a;
    kernel<<<blocks, block_threads, 0, launch.stream()>>>(compact(a.common), operands);
    launch.check_launch();
    const auto sums = static_cast<unsigned>((a.reduce.count + block_warps - 1) / block_warps);
    sum_kernel<<<sums, block_threads, 0, launch.stream()>>>(compact(context_after(a.common)),
                                                            a.reduce, blocks);
    launch.check_launch();
}

template <class T, class Kernel>
void run_tiles(const launch_scope& launch, Kernel kernel, const column_basis_arguments<T>& a) {
    const unsigned blocks =
        launch.blocks(kernel, block_threads, (a.entries() + tile_size<T> - 1) / tile_size<T>);
    const column_basis_operands<T>& operands = a;
    kernel<<<blocks, block_threads, 0, launch.stream()>>>(compact(a.common), operands);
    launch.check_launch();
}

} // namespace

template <class T>
void run_basis_pass(device& device, basis_pass pass, const column_basis_arguments<T>& a) {
    const launch_scope launch(device);
    with_columns(a.at.k, [&](auto k) {
        constexpr int columns = decltype(k)::value;
        switch (pass) {
        case basis_pass::dots:
            return a.w != nullptr ? run_dots<T, columns, 2>(launch, a)
                                  : run_dots<T, columns, 1>(launch, a);
        case basis_pass::update: return run_tiles(launch, update_kernel<T, columns>, a);
        case basis_pass::combine: return run_tiles(launch, combine_kernel<T, columns>, a);
        }
    });
}

void run_cycle_task(device& device, const kernel_context& common, const cycle_task& task) {
    const launch_scope launch(device);
    task_kernel<<<1, 32 * task.at.k, 0, launch.stream()>>>(pack_context<long_context>(common),
                                                           task);
    launch.check_launch();
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void run_basis_pass(device&, basis_pass, const column_basis_arguments<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
