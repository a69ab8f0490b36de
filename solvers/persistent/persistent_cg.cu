// The kernel of persistent_loop: CG of one device's rows, from launch to the loop's stop.
//
// The two all-reduces take 3.4 us of the 11.7 us of an iteration on 64^3 rows (7-point stencil, one
// H200): 1.4, and 2.0 where earlier stores must be visible (132 blocks, measured alone).

#include <algorithm>
#include <map>
#include <mutex>

#include <krylith/device/cuda/cooperative_launch.cuh>
#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/solvers/persistent/iteration_recorder.cuh>
#include <krylith/solvers/persistent/persistent_all_reduce.cuh>
#include <krylith/solvers/persistent/persistent_kernel.hpp>
#include <krylith/solvers/persistent/persistent_products.cuh>
#include <krylith/vector/execution/kernel_context_cuda.cuh>

namespace krylith::cuda {

namespace {

/// The shared memory of a block besides the kernel context and the pool.
struct block_state {
    all_reduce_state all_reduce;
    block_heads heads;
    stamped_value* peer_ghosts[max_gpus];
    iteration_recorder recorder;
};

/// Sends a row's pair to one peer.
template <class T>
__device__ void send(stamped_value* to, direction_pair<T> pair, std::uint64_t epoch) {
    store_stamped(to, {static_cast<double>(pair.z), epoch});
    store_stamped(to + 1, {static_cast<double>(pair.p), epoch});
}

/// Packs a place at a peer into 32 bits: there are fewer than 2^28 ghosts where the rows fit.
__device__ inline std::uint32_t packed(persistent_send to) {
    return static_cast<std::uint32_t>(to.position) * max_gpus + static_cast<std::uint32_t>(to.peer);
}
__device__ inline stamped_value* place_at_peer(const block_state& block, std::uint32_t to) {
    return block.peer_ghosts[to % max_gpus] + 2 * std::int64_t{to / max_gpus};
}

/// Sends a row's pair to all its peers but the first.
template <class T>
__device__ __noinline__ void send_to_others(const persistent_arguments<T>& a,
                                            const block_state& block, std::int32_t row,
                                            direction_pair<T> pair, std::uint64_t epoch) {
    for (std::int32_t e = a.first_send[row] + 1; e < a.first_send[row + 1]; ++e)
        send(place_at_peer(block, packed(a.sends[e])), pair, epoch);
}

/// CG with at most `Slices` slices a warp. Where registers can't hold x and r of a thread's rows, r
/// is in shared memory, and x stays in device memory and is updated beside the product.
template <class T, int Slices>
__global__ void __launch_bounds__(persistent_threads, 1)
    persistent_kernel(const __grid_constant__ long_context parameter,
                      const __grid_constant__ persistent_arguments<T> a) {
    constexpr bool in_registers = Slices <= register_slices;
    constexpr int unroll = in_registers ? Slices : 2;
    constexpr int block_rows = Slices * persistent_threads;
    __shared__ state_of<long_context> state;
    __shared__ block_state block;
    extern __shared__ __align__(16) unsigned char pool[];
    T* const q = reinterpret_cast<T*>(pool);
    T* const far_r = q + block_rows; // used unless in_registers
    auto* const first_peer =
        reinterpret_cast<std::uint32_t*>(in_registers ? far_r : far_r + block_rows);
    unsigned char* const pairs_and_matrix =
        reinterpret_cast<unsigned char*>(first_peer + block_rows);
    const std::int32_t left = a.pool_bytes - persistent_row_bytes(Slices, sizeof(T));
    const long_context& f = state.context; // valid after the prologue
    double* const reg = state.reg;
    const auto me = static_cast<int>(threadIdx.x);
    const int warp = me / 32;
    const int lane = me & 31;
    // These are in the two warps with the fewest slices.
    constexpr int testing_thread = persistent_threads - 32;
    constexpr int recording_thread = persistent_threads - 64;

    near_pairs<T> near{};
    near.pairs = reinterpret_cast<direction_pair<T>*>(pairs_and_matrix);
    block_matrix<T> matrix{};
    const auto load_matrix = [&] {
        const block_range range(a.matrix);
        matrix.load_heads(a.matrix, range, block.heads);
        // The length of the run of consecutive slices from the first on.
        const std::int32_t* const number = block.heads.slices;
        const std::int32_t run =
            __syncthreads_count(me < range.interior && number[me] == number[0] + me);
        constexpr auto pair_size = static_cast<std::int32_t>(sizeof(direction_pair<T>));
        if (a.matrix.rows == nullptr && run * slice_rows * pair_size <= left) {
            near.first = number[0] * slice_rows;
            near.count = run * slice_rows;
        }
        const std::int32_t pair_bytes = near.count * pair_size;
        matrix.load(a.matrix, near, pairs_and_matrix + pair_bytes, left - pair_bytes);
        if (me == 0) block.all_reduce.failed = 0;
    };
    if (!kernel_prologue(parameter, state, nullptr, load_matrix)) return;

    /// Returns the j-th row of this thread; -1: none.
    const auto row = [&](int j) {
        const std::int32_t number = warp + j * persistent_warps;
        return number < matrix.count
                   ? row_at(a.matrix, std::int64_t{block.heads.slices[number]} * slice_rows + lane)
                   : -1;
    };
    if (me == recording_thread)
        block.recorder = {blockIdx.x == 0 && f.history.values != nullptr, reg[control::iteration],
                          0.0, reg[control::watched] != 0.0 ? a.watch->board : nullptr,
                          static_cast<std::uint32_t>(reg[control::watched])};
    const T factor = a.scale != no_scale ? static_cast<T>(reg[a.scale]) : T(1);
    T near_x[in_registers ? Slices : 1] = {};
    T near_r[in_registers ? Slices : 1] = {};
    const auto r = [&](int j) -> T& {
        if constexpr (in_registers)
            return near_r[j];
        else
            return far_r[j * persistent_threads + me];
    };
    if (a.first_send != nullptr && me < f.all_reduce.ranks)
        block.peer_ghosts[me] = a.peer_ghosts[me];
    unsigned sends = 0; // bit j: a peer has a copy of row j; bit j + Slices: several have
#pragma unroll
    for (int j = 0; j < Slices; ++j) {
        q[j * persistent_threads + me] = 0;
        const std::int32_t i = row(j);
        const std::int32_t place = (warp + j * persistent_warps) * slice_rows + lane;
        if (place < near.count) // pairs beyond the last row are zero: see multiply_regular
            near.pairs[place] = i >= 0 ? a.pairs[i] : direction_pair<T>{};
        if (i < 0) continue;
        r(j) = a.r[i];
        if constexpr (in_registers) near_x[j] = a.x[i];
        if (a.first_send == nullptr) continue;
        const std::int32_t first = a.first_send[i];
        const std::int32_t peers = a.first_send[i + 1] - first;
        if (peers > 0) {
            sends |= 1u << j;
            first_peer[j * persistent_threads + me] = packed(a.sends[first]);
        }
        if (peers > 1) sends |= 1u << (j + Slices);
    }
    __syncthreads(); // for peer_ghosts, and for the first iteration's number

    std::uint64_t epoch = *a.last_epoch;
    double rho = reg[a.rho];
    double beta = reg[a.beta];
    T alpha = 0; // the first round only publishes the pairs
    bool first = true;
    loop_state breakdown = loop_state::running;
    for (;;) {
        // This phase moves 48 bytes a row in shared memory and 16 in L2.
        ++epoch;
        double norms[2] = {};
#pragma unroll unroll
        for (int j = Slices - 1; j >= 0; --j) { // the rows that peers wait for come first
            const std::int32_t i = row(j);
            if (i < 0) continue;
            const direction_pair<T> own = near.get(a, i);
            const T p = first ? own.p : fma(static_cast<T>(beta), own.p, own.z);
            if constexpr (in_registers) near_x[j] += alpha * p;
            const T r_j = r(j) - alpha * q[j * persistent_threads + me];
            r(j) = r_j;
            const T z = a.inverse != nullptr ? a.inverse[i] * factor * r_j : r_j;
            a.pairs[i] = {z, p};
            if (near.holds(i)) near.pairs[i - near.first] = {z, p};
            if ((sends >> j & 1) != 0) {
                send<T>(place_at_peer(block, first_peer[j * persistent_threads + me]), {z, p},
                        epoch);
                if ((sends >> (j + Slices) & 1) != 0) send_to_others<T>(a, block, i, {z, p}, epoch);
            }
            norms[0] += static_cast<double>(r_j) * static_cast<double>(r_j);
            norms[1] += static_cast<double>(r_j) * static_cast<double>(z);
        }
        const bool plain = a.inverse == nullptr;
        if (!all_reduce<2, true>(f, a, block.all_reduce, epoch, plain ? 1 : 2, norms)) break;
        if (plain) norms[1] = norms[0];
        if (!first) {
            beta = norms[1] / rho;
            rho = norms[1];
            // Every block computes the same; the others see it after the next all-reduce.
            if (me == testing_thread) {
                reg[control::iteration] += 1.0;
                detail::test(reg, norms[0]);
                if (!plain && !(rho > 0)) detail::stop(reg, loop_state::indefinite_preconditioner);
                if (reg[control::iteration] >= reg[control::pause_at])
                    detail::stop(reg, loop_state::pause);
            }
            if (me == recording_thread && block.recorder.records)
                record(f.history, block.recorder, norms[0], static_cast<double>(alpha), beta);
        }

        // Whether the loop has stopped is not known here, but x has to be updated either way.
        double pq[1] = {};
#pragma unroll 1
        for (int j = 0; j < Slices; ++j) {
            const std::int32_t i = row(j);
            if (i < 0) continue;
            const auto slice = matrix.slice(a.matrix, warp + j * persistent_warps, i, lane);
            const T b = static_cast<T>(beta);
            T x = 0;
            if constexpr (!in_registers)
                if (!first) x = a.x[i];
            T sum = 0;
            for (;;) {
                bool late = false;
                switch (slice.code) {
                case regular: sum = multiply_regular(a, near, slice, b); break;
                case column_code::diagonal:
                    sum = multiply_row<column_code::diagonal>(a, near, slice, b, epoch, late);
                    break;
                case column_code::narrow:
                    sum = multiply_row<column_code::narrow>(a, near, slice, b, epoch, late);
                    break;
                default: sum = multiply_row<rare_codes>(a, near, slice, b, epoch, late);
                }
                if (!late) break;
                wait_for_pairs(f, a, slice, epoch);
                if (load_relaxed(f.failure) != 0) break; // the next all-reduce reports it
            }
            const direction_pair<T> own = near.get(a, i);
            if constexpr (!in_registers)
                if (!first) a.x[i] = x + alpha * own.p;
            const T product = a.alpha * sum;
            q[j * persistent_threads + me] = product;
            pq[0] += static_cast<double>(fma(b, own.p, own.z)) * static_cast<double>(product);
        }
        first = false;
        ++epoch;
        // The sum brings the host's word to all blocks of all ranks. A sum of its own would cost
        // each iteration 1 us, and an addition that is skipped where the word is 0 costs 0.6.
        if (me == recording_thread) pq[0] += block.recorder.word;
        if (!all_reduce<1, false>(f, a, block.all_reduce, epoch, 1, pq)) break;
        if (reg[control::state] != 0.0) break;
        if (!(pq[0] > 0)) { // the same in all threads of all devices
            breakdown = detail::finite(pq[0])          ? loop_state::indefinite_matrix
                        : reg[control::watched] != 0.0 ? loop_state::stopped
                                                       : loop_state::not_a_number;
            break;
        }
        alpha = static_cast<T>(rho / pq[0]);
    }

#pragma unroll
    for (int j = 0; j < Slices; ++j)
        if (const std::int32_t i = row(j); i >= 0) {
            a.r[i] = r(j);
            if constexpr (in_registers) a.x[i] = near_x[j];
        }
    __syncthreads();
    if (blockIdx.x == 0 && me == testing_thread) {
        if (breakdown != loop_state::running) detail::stop(reg, breakdown);
        if (reg[control::watched] != 0.0) reg[control::posted] = reg[control::iteration];
        reg[a.rho] = rho;
        reg[a.beta] = beta;
        const std::uint8_t results[] = {control::state, control::iteration, control::residual,
                                        control::best,  control::best_at,   a.rho,
                                        a.beta,         control::posted};
        static_assert(sizeof results == persistent_results);
        for (int i = 0; i < persistent_results; ++i) f.slots[a.slots[i]] = reg[results[i]];
        *a.last_epoch = epoch;
    }
}

template <class T>
auto cg_kernel_of(std::int32_t slices_a_warp) {
    switch (slices_a_warp) {
    case 1: return persistent_kernel<T, 1>;
    case 2: return persistent_kernel<T, 2>;
    case 4: return persistent_kernel<T, 4>;
    default: return persistent_kernel<T, 8>;
    }
}

} // namespace

namespace {

/// Bytes of shared memory left for a block's pool; negative if the kernel does not fit.
std::int64_t pool_room(const cuda_device& d, std::int32_t slices_a_warp) {
    const current_device current(d.ordinal());
    int limit = 0;
    KRYLITH_CUDA_CHECK(
        cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, d.ordinal()));
    cudaFuncAttributes attributes{};
    KRYLITH_CUDA_CHECK(cudaFuncGetAttributes(&attributes, cg_kernel_of<double>(slices_a_warp)));
    return limit - static_cast<std::int64_t>(attributes.sharedSizeBytes) - 1024;
}

} // namespace

std::int32_t persistent_slices(const device& device) {
    // Every solve asks, and the runtime's answers would take 3 us.
    static std::mutex lock;
    static std::map<int, std::int32_t> known; // by ordinal
    const auto& d = static_cast<const cuda_device&>(device);
    const std::lock_guard held(lock);
    if (const auto found = known.find(d.ordinal()); found != known.end()) return found->second;
    std::int32_t n = most_persistent_slices;
    while (n > 0 && pool_room(d, n) < persistent_row_bytes(n, sizeof(double))) n /= 2;
    known.emplace(d.ordinal(), n);
    return n;
}

persistent_shape shape_of_persistent(const device& device, std::int64_t slices,
                                     std::int64_t matrix_bytes, std::int64_t pair_bytes) {
    const auto& d = static_cast<const cuda_device&>(device);
    persistent_shape shape;
    shape.blocks = static_cast<std::int32_t>(
        std::min<std::int64_t>({d.multiprocessors(), most_persistent_blocks,
                                std::max<std::int64_t>(1, slices / persistent_warps)}));
    const std::int64_t most = (slices + shape.blocks - 1) / shape.blocks; // slices of a block
    shape.slices_a_warp = 1;
    while (most > std::int64_t{shape.slices_a_warp} * persistent_warps) shape.slices_a_warp *= 2;
    // The rest of the multiprocessor's memory caches the pairs. Blocks have about equally many
    // entries; one that has more reads the rest from memory.
    const std::int64_t wanted = persistent_row_bytes(shape.slices_a_warp, sizeof(double)) +
                                matrix_bytes / shape.blocks * 17 / 16 +
                                most * slice_rows * pair_bytes + 4096;
    shape.pool_bytes =
        static_cast<std::int32_t>(std::min(pool_room(d, shape.slices_a_warp), wanted) / 256 * 256);
    return shape;
}

template <class T>
void persistent_cg(device& device, const kernel_context& common, const persistent_arguments<T>& a,
                   const persistent_shape& shape) {
    const launch_scope launch(device);
    const auto kernel = cg_kernel_of<T>(shape.slices_a_warp);
    KRYLITH_CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                            shape.pool_bytes));
    launch_together(launch, kernel, static_cast<unsigned>(shape.blocks), persistent_threads,
                    static_cast<std::size_t>(shape.pool_bytes), pack_context<long_context>(common),
                    a);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void persistent_cg(device&, const kernel_context&, const persistent_arguments<T>&,    \
                                const persistent_shape&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
