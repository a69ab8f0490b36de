// The kernel of resident_loop: CG of one device's rows, from launch to the loop's stop.
//
// An iteration on 64^3 rows of a 7-point stencil reads 16 MB of pairs from L2 and 22 MB of the matrix
// from shared memory: the two exchanges, about 1 us each on one device, weigh as much as all bytes.

#include <type_traits>

#include <krylith/device/cuda_device.cuh>
#include <krylith/solvers/resident_kernel.hpp>
#include <krylith/vector/kernel_frame.cuh>

namespace krylith::cuda {

namespace {

constexpr int in_flight = 7;  ///< pairs on their way a thread: a 7-point row
constexpr int slice_rows = 32;
constexpr int letters_a_lane = most_resident_blocks / 32;

/// The part of the matrix that a block multiplies: slices [first, last), and the entries of the
/// first of them in shared memory.
template <class T>
struct block_matrix {
    const sell_view<T>* m;
    const T* shared_values;
    const std::int32_t* shared_columns;
    std::int64_t base;   ///< first entry of the block's slices
    std::int64_t shared; ///< entries in shared memory

    /// Calls use(k, column or -1, value)... in chunks of in_flight.
    template <class Chunk>
    __device__ void for_chunks(std::int32_t slice, int lane, Chunk chunk) const {
        const std::int64_t first = m->slice_offsets[slice] - base;
        const std::int64_t end = m->slice_offsets[slice + 1] - base;
        const bool near = end <= shared;
        const T* values = (near ? shared_values : m->values + base) + first + lane;
        const std::int32_t* columns = (near ? shared_columns : m->columns + base) + first + lane;
        const auto length = static_cast<int>((end - first) / slice_rows);
        for (int k = 0; k < length; k += in_flight) {
            std::int32_t column[in_flight];
            T value[in_flight];
#pragma unroll
            for (int u = 0; u < in_flight; ++u) {
                const bool there = k + u < length;
                column[u] = there ? columns[(k + u) * slice_rows] : -1;
                value[u] = there ? values[(k + u) * slice_rows] : T(0);
            }
            chunk(column, value);
        }
    }
};

/// Shared memory of a block besides the frame's and the matrix.
struct exchange_state {
    double warp_sums[resident_sums][resident_warps];
    double sums[resident_sums][max_ranks];
    int failed;
};

/// Adds up Count values over all threads of all blocks of all ranks; every thread gets the same
/// bits. With `publish`, what the blocks of this device stored before is visible after it. A block
/// waits for all others. False after a time-out.
template <int Count, bool Publish, class T>
__device__ bool exchange(const compact_frame& f, const resident_operands<T>& a, exchange_state& s,
                         std::uint64_t epoch, const double (&part)[Count], double (&total)[Count]) {
    const int warp = static_cast<int>(threadIdx.x / 32);
    const int lane = static_cast<int>(threadIdx.x & 31);
    const int ranks = f.ranks;
#pragma unroll
    for (int v = 0; v < Count; ++v) {
        double value = part[v];
        for (int offset = 16; offset > 0; offset /= 2)
            value += __shfl_down_sync(0xffffffffu, value, offset);
        if (lane == 0) s.warp_sums[v][warp] = value;
    }
    __syncthreads();
    if (warp == 0) {
        if constexpr (Publish) __threadfence();
        double sum[Count];
#pragma unroll
        for (int v = 0; v < Count; ++v) {
            sum[v] = lane < resident_warps ? s.warp_sums[v][lane] : 0.0;
            for (int offset = resident_warps / 2; offset > 0; offset /= 2)
                sum[v] += __shfl_xor_sync(0xffffffffu, sum[v], offset, 16);
        }
        if (lane < ranks)
#pragma unroll
            for (int v = 0; v < Count; ++v)
                store_letter(a.boards[lane] + board_place(epoch, ranks, f.mail.rank, v,
                                                          static_cast<int>(blockIdx.x)),
                             {sum[v], epoch});
    }
    // A warp a rank and value; the last ones first, since warp 0 has just been busy.
    for (int item = resident_warps - 1 - warp; item < ranks * Count; item += resident_warps) {
        const int rank = item / Count;
        const int v = item % Count;
        const int blocks = a.blocks[rank];
        const letter* from = a.board + board_place(epoch, ranks, rank, v, 0);
        letter got[letters_a_lane];
        const auto look = [&] {
            bool all = true;
#pragma unroll
            for (int u = 0; u < letters_a_lane; ++u)
                if (lane + u * 32 < blocks) got[u] = load_letter(from + lane + u * 32);
#pragma unroll
            for (int u = 0; u < letters_a_lane; ++u)
                all = all && (lane + u * 32 >= blocks || got[u].epoch == epoch);
            return all;
        };
        const bool ok = __all_sync(0xffffffffu, wait_until(f.mail, rank, look)) != 0;
        double sum = 0;
#pragma unroll
        for (int u = 0; u < letters_a_lane; ++u)
            sum += lane + u * 32 < blocks ? got[u].value : 0.0;
        for (int offset = 16; offset > 0; offset /= 2)
            sum += __shfl_down_sync(0xffffffffu, sum, offset);
        if (lane == 0) {
            s.sums[v][rank] = sum;
            if (!ok) s.failed = 1;
            if constexpr (Publish) __threadfence();
        }
    }
    __syncthreads();
#pragma unroll
    for (int v = 0; v < Count; ++v) {
        total[v] = s.sums[v][0];
        for (int rank = 1; rank < ranks; ++rank) total[v] += s.sums[v][rank];
    }
    return s.failed == 0;
}

/// A pair that a peer sent before exchange `epoch`.
template <class T>
__device__ direction_pair<T> read_ghost(const compact_frame& f, const resident_operands<T>& a,
                                        std::int32_t ghost, std::uint64_t epoch) {
    const letter* const from = a.ghosts + 2 * std::int64_t{ghost};
    letter z = load_letter(from);
    letter p = load_letter(from + 1);
    if (z.epoch != epoch || p.epoch != epoch)
        wait_until(f.mail, f.mail.rank, [&] {
            z = load_letter(from);
            p = load_letter(from + 1);
            return z.epoch == epoch && p.epoch == epoch;
        });
    return {static_cast<T>(z.value), static_cast<T>(p.value)};
}

/// Stores a row's pair here and at the peers.
template <class T>
__device__ void publish(const resident_operands<T>& a, std::int64_t row, bool sends, T z, T p,
                        std::uint64_t epoch) {
    a.pairs[row] = {z, p};
    if (!sends) return;
    for (std::int32_t e = a.first_send[row]; e < a.first_send[row + 1]; ++e) {
        const resident_send to = a.sends[e];
        letter* const place = a.peer_ghosts[to.peer] + 2 * std::int64_t{to.position};
        store_letter(place, {static_cast<double>(z), epoch});
        store_letter(place + 1, {static_cast<double>(p), epoch});
    }
}

/// Slices: of a warp, at most.
template <class T, int Slices>
__global__ void __launch_bounds__(resident_threads, 1)
    resident_kernel(const __grid_constant__ compact_frame parameter,
                    const __grid_constant__ resident_operands<T> a) {
    __shared__ frame_state state;
    __shared__ exchange_state sums;
    extern __shared__ __align__(16) unsigned char pool[];
    const compact_frame& f = state.f; // after begin
    double* const reg = state.reg;
    const int warp = static_cast<int>(threadIdx.x / 32);
    const int lane = static_cast<int>(threadIdx.x & 31);
    const auto blocks = static_cast<std::int64_t>(gridDim.x);
    const auto first_slice = static_cast<std::int32_t>(a.matrix.slices * blockIdx.x / blocks);
    const auto last_slice = static_cast<std::int32_t>(a.matrix.slices * (blockIdx.x + 1) / blocks);

    block_matrix<T> matrix{};
    const auto fill = [&] {
        matrix.m = &a.matrix;
        matrix.base = a.matrix.slice_offsets[first_slice];
        const std::int64_t entries = a.matrix.slice_offsets[last_slice] - matrix.base;
        const std::int64_t room =
            a.pool_bytes / static_cast<std::int64_t>(sizeof(T) + sizeof(std::int32_t));
        matrix.shared = min(entries, room);
        T* const values = reinterpret_cast<T*>(pool);
        auto* const columns = reinterpret_cast<std::int32_t*>(values + matrix.shared);
        for (std::int64_t i = threadIdx.x; i < matrix.shared; i += resident_threads) {
            values[i] = a.matrix.values[matrix.base + i];
            columns[i] = a.matrix.columns[matrix.base + i];
        }
        matrix.shared_values = values;
        matrix.shared_columns = columns;
        if (threadIdx.x == 0) sums.failed = 0;
    };
    if (!begin(parameter, state, nullptr, fill)) return;

    // The rows of this thread, and their parts of the vectors.
    std::int32_t row[Slices] = {};
    unsigned sends = 0;
    T x[Slices] = {};
    T r[Slices] = {};
    T p[Slices] = {};
    T q[Slices] = {};
    std::uint64_t epoch = *a.exchanges + 1;
    const T factor = a.scale != 255 ? static_cast<T>(reg[a.scale]) : T(1);
    const auto preconditioned = [&](int j) {
        return a.inverse != nullptr ? a.inverse[row[j]] * factor * r[j] : r[j];
    };
#pragma unroll
    for (int j = 0; j < Slices; ++j) {
        const std::int32_t slice = first_slice + warp + j * resident_warps;
        const std::int32_t place = slice * slice_rows + lane;
        row[j] = -1;
        if (slice < last_slice)
            row[j] = a.matrix.rows != nullptr ? a.matrix.rows[place]
                     : place < a.rows         ? place
                                              : -1;
        if (row[j] < 0) continue;
        x[j] = a.x[row[j]];
        r[j] = a.r[row[j]];
        const bool sending =
            a.first_send != nullptr && a.first_send[row[j]] != a.first_send[row[j] + 1];
        sends |= sending ? 1u << j : 0u;
        publish(a, row[j], sending, preconditioned(j), a.pairs[row[j]].p, epoch);
    }
    double rho = reg[a.rho];
    double beta = reg[a.beta];
    double nothing[1] = {};
    bool ok = exchange<1, true>(f, a, sums, epoch, nothing, nothing);

    while (ok) {
        const T b = static_cast<T>(beta);
        double pq[1] = {};
        // Whether the loop has stopped is not known yet: nothing but registers is written here.
#pragma unroll
        for (int j = 0; j < Slices; ++j) {
            if (row[j] < 0) continue;
            const direction_pair<T> own = a.pairs[row[j]];
            T sum = 0;
            matrix.for_chunks(
                first_slice + warp + j * resident_warps, lane,
                [&](const std::int32_t(&column)[in_flight], const T(&value)[in_flight]) {
                    direction_pair<T> pair[in_flight];
                    bool ghosts = false;
#pragma unroll
                    for (int u = 0; u < in_flight; ++u) {
                        pair[u] = {};
                        if (column[u] >= a.rows)
                            ghosts = true;
                        else if (column[u] >= 0)
                            pair[u] = a.pairs[column[u]];
                    }
                    if (ghosts)
#pragma unroll
                        for (int u = 0; u < in_flight; ++u)
                            if (column[u] >= a.rows)
                                pair[u] = read_ghost(f, a, column[u] - a.rows, epoch);
#pragma unroll
                    for (int u = 0; u < in_flight; ++u)
                        if (column[u] >= 0) sum += value[u] * fma(b, pair[u].p, pair[u].z);
                });
            p[j] = fma(b, own.p, own.z);
            q[j] = a.alpha * sum;
            pq[0] += static_cast<double>(p[j]) * static_cast<double>(q[j]);
        }
        ++epoch;
        if (!exchange<1, false>(f, a, sums, epoch, pq, pq)) break;
        if (reg[control::state] != 0.0) break;
        if (!(pq[0] > 0)) { // all threads of all devices agree
            if (threadIdx.x == 0)
                detail::stop(reg, detail::finite(pq[0]) ? loop_state::indefinite_matrix
                                                        : loop_state::not_a_number);
            break;
        }
        const T alpha = static_cast<T>(rho / pq[0]);
        double norms[2] = {};
        ++epoch;
#pragma unroll
        for (int j = 0; j < Slices; ++j) {
            if (row[j] < 0) continue;
            x[j] += alpha * p[j];
            r[j] -= alpha * q[j];
            const T z = preconditioned(j);
            publish(a, row[j], (sends >> j & 1) != 0, z, p[j], epoch);
            norms[0] += static_cast<double>(r[j]) * static_cast<double>(r[j]);
            norms[1] += static_cast<double>(r[j]) * static_cast<double>(z);
        }
        if (a.inverse != nullptr) {
            if (!exchange<2, true>(f, a, sums, epoch, norms, norms)) break;
        } else {
            double rr[1] = {norms[0]};
            if (!exchange<1, true>(f, a, sums, epoch, rr, rr)) break;
            norms[0] = norms[1] = rr[0];
        }
        beta = norms[1] / rho;
        rho = norms[1];
        if (threadIdx.x == 0) { // all blocks come to the same; seen after the next exchange
            reg[control::iteration] += 1.0;
            if (blockIdx.x == 0 && f.history != nullptr)
                f.history[static_cast<std::int64_t>(reg[control::iteration])] = norms[0];
            detail::test(reg, norms[0]);
            if (a.inverse != nullptr && !(rho > 0))
                detail::stop(reg, loop_state::indefinite_preconditioner);
            if (reg[control::iteration] >= reg[control::pause_at])
                detail::stop(reg, loop_state::pause);
        }
    }

#pragma unroll
    for (int j = 0; j < Slices; ++j)
        if (row[j] >= 0) {
            a.x[row[j]] = x[j];
            a.r[row[j]] = r[j];
        }
    __syncthreads();
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        const std::uint8_t from[] = {control::state, control::iteration, control::residual,
                                     control::best,  control::best_at,   a.rho,
                                     a.beta};
        reg[a.rho] = rho;
        reg[a.beta] = beta;
        static_assert(sizeof from == resident_results);
        for (int i = 0; i < resident_results; ++i) f.slots[a.slots[i]] = reg[from[i]];
        *a.exchanges = epoch;
    }
}

template <class T>
auto kernel_of(std::int32_t slices_a_warp) {
    switch (slices_a_warp) {
    case 1: return resident_kernel<T, 1>;
    case 2: return resident_kernel<T, 2>;
    case 4: return resident_kernel<T, 4>;
    default: return resident_kernel<T, 8>;
    }
}

} // namespace

resident_shape shape_of_resident(const device& where, std::int64_t slices) {
    const auto& d = static_cast<const cuda_device&>(where);
    const current_device current(d.ordinal());
    resident_shape shape;
    shape.blocks = static_cast<std::int32_t>(
        std::min<std::int64_t>({d.multiprocessors(), most_resident_blocks,
                                std::max<std::int64_t>(1, slices / resident_warps)}));
    const std::int64_t most = (slices + shape.blocks - 1) / shape.blocks; // of a block
    for (int n = 1; n <= most_resident_slices && shape.slices_a_warp == 0; n *= 2)
        if (most <= std::int64_t{n} * resident_warps) shape.slices_a_warp = n;
    if (shape.slices_a_warp == 0) return shape;
    int limit = 0;
    KRYLITH_CUDA_CHECK(cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin,
                                              d.ordinal()));
    cudaFuncAttributes attributes{};
    KRYLITH_CUDA_CHECK(cudaFuncGetAttributes(&attributes, kernel_of<double>(shape.slices_a_warp)));
    // What isn't shared memory is cache of the pairs: some is left.
    const int wanted = limit - static_cast<int>(attributes.sharedSizeBytes) - 1024;
    shape.pool_bytes = std::max(0, wanted / 256 * 256);
    return shape;
}

template <class T>
void resident_cg(device& where, const frame& common, const resident_operands<T>& a,
                 const resident_shape& shape) {
    const launch_scope launch(where);
    const auto kernel = kernel_of<T>(shape.slices_a_warp);
    KRYLITH_CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                            shape.pool_bytes));
    // Cooperative: its blocks wait for each other, so all must be on the device at once.
    cudaLaunchAttribute cooperative{};
    cooperative.id = cudaLaunchAttributeCooperative;
    cooperative.val.cooperative = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(shape.blocks));
    config.blockDim = dim3(resident_threads);
    config.dynamicSmemBytes = static_cast<std::size_t>(shape.pool_bytes);
    config.stream = launch.stream();
    config.attrs = &cooperative;
    config.numAttrs = 1;
    KRYLITH_CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, compact(common), a));
}

template void resident_cg(device&, const frame&, const resident_operands<double>&,
                          const resident_shape&);
template void resident_cg(device&, const frame&, const resident_operands<float>&,
                          const resident_shape&);

} // namespace krylith::cuda
