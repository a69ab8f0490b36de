// The kernel of resident_loop: CG of one device's rows, from launch to the loop's stop.
//
// Of the 11.7 us of an iteration on 64^3 rows (7-point stencil, one H200) the two exchanges are 3.4
// us by themselves: 1.4 and, where stores before it must be visible, 2.0 (132 blocks, a throw-away
// kernel).

#include <algorithm>

#include <krylith/device/cuda_device.cuh>
#include <krylith/solvers/resident_kernel.hpp>
#include <krylith/spmv/sell_slices.cuh>
#include <krylith/vector/kernel_frame.cuh>

namespace krylith::cuda {

namespace {

constexpr int in_flight = 7; ///< pairs on their way a thread: a 7-point row in one go
constexpr int letters_a_lane = most_resident_blocks / 32;
constexpr int block_slices = most_resident_slices * resident_warps;

__device__ inline void fence_acq_rel() {
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
}

/// The pairs of a block's rows, in shared memory besides, if rows lie in their natural order.
template <class T>
struct near_pairs {
    direction_pair<T>* pairs; ///< of rows [first, first + count)
    std::int32_t first;
    std::int32_t count;

    [[nodiscard]] __device__ direction_pair<T> get(const resident_operands<T>& a,
                                                   std::int32_t row) const {
        const auto place = static_cast<std::uint32_t>(row - first);
        if (place < static_cast<std::uint32_t>(count)) return pairs[place];
        return a.pairs[row];
    }
};

/// Of a slice in shared memory whose rows have no ghosts and whose columns are told by diagonals.
/// Its steps are rewritten: base * 2, plus 1 where the pairs of all 32 lanes are in shared memory.
inline constexpr auto regular = static_cast<column_code>(3);

/// The slices [first, last) that a block multiplies. The heads of all and as many of the slices
/// themselves as fit are copied to shared memory.
template <class T>
struct block_matrix {
    slice_head* heads; ///< shared, [last - first]
    std::int32_t count;
    std::int32_t near; ///< slices in shared memory
    /// Where slice-column 0 and piece 0 of the matrix would lie: in shared memory for the first
    /// `near` slices, else in the matrix.
    const T* near_values;
    const slice_step* near_steps;
    const std::byte* near_columns;

    __device__ static std::int64_t pieces(const slice_head& head) {
        switch (head.code()) {
        case column_code::diagonal: return 0;
        case column_code::narrow: return head.length();
        default: return 2 * std::int64_t{head.length()};
        }
    }

    /// By all threads of the block.
    __device__ void load(const sell_view<T>& m, const near_pairs<T>& pairs, std::int32_t first,
                         std::int32_t last, slice_head* to, unsigned char* pool,
                         std::int64_t pool_bytes) {
        heads = to;
        count = last - first;
        const auto me = static_cast<std::int32_t>(threadIdx.x);
        if (me < count) heads[me] = load_head(m.heads + first + me);
        __syncthreads();
        const slice_head begin = count != 0 ? heads[0] : slice_head{};
        const auto size = [&](std::int32_t slice, std::int64_t& steps, std::int64_t& stored) {
            const slice_head& end = heads[slice];
            steps = std::int64_t{end.first} + end.length() - begin.first;
            stored = std::int64_t{end.columns} + pieces(end) - begin.columns;
        };
        constexpr std::int64_t step_bytes = slice_rows * sizeof(T) + sizeof(slice_step);
        std::int64_t steps = 0;
        std::int64_t stored = 0;
        if (me < count) size(me, steps, stored);
        near = __syncthreads_count(me < count &&
                                   steps * step_bytes + stored * column_piece <= pool_bytes);
        steps = stored = 0;
        if (near != 0) size(near - 1, steps, stored);
        // All three parts are of multiples of 8 bytes.
        T* const values = reinterpret_cast<T*>(pool);
        auto* const shared_steps = reinterpret_cast<slice_step*>(values + steps * slice_rows);
        auto* const columns = reinterpret_cast<std::uint32_t*>(shared_steps + steps);
        const T* const from = m.values + std::int64_t{begin.first} * slice_rows;
        for (std::int64_t i = me; i < steps * slice_rows; i += resident_threads)
            values[i] = __ldcs(from + i);
        if (m.steps != nullptr)
            for (std::int32_t slice = me / 32; slice < near; slice += resident_warps)
                load_steps(m, pairs, (first + slice) * slice_rows, heads[slice],
                           shared_steps + (heads[slice].first - begin.first));
        const auto* const words = reinterpret_cast<const std::uint32_t*>(
            m.columns + std::int64_t{begin.columns} * column_piece);
        for (std::int64_t i = me; i < stored * column_piece / 4; i += resident_threads)
            columns[i] = words[i];
        near_values = values - std::int64_t{begin.first} * slice_rows;
        near_steps = shared_steps - begin.first;
        near_columns = reinterpret_cast<const std::byte*>(columns) -
                       std::int64_t{begin.columns} * column_piece;
    }

    /// By a warp: the steps of the slice whose rows begin with `row`, if they are in their natural
    /// order.
    __device__ static void load_steps(const sell_view<T>& m, const near_pairs<T>& pairs,
                                      std::int32_t row, slice_head& head, slice_step* to) {
        const auto lane = static_cast<std::int32_t>(threadIdx.x & 31);
        const std::int32_t length = head.length();
        bool simple = m.rows == nullptr && head.code() == column_code::diagonal;
        for (std::int32_t k = lane; k < length; k += 32) {
            const slice_step step = load_step(m.steps + head.first + k);
            to[k] = step;
            if (step.lanes == 0) continue;
            const std::int32_t low = row + __ffs(static_cast<int>(step.lanes)) - 1 + step.base;
            const std::int32_t high = row + 31 - __clz(static_cast<int>(step.lanes)) + step.base;
            simple = simple && low >= 0 && high < m.row_count;
        }
        if (__all_sync(0xffffffffu, simple) == 0) return;
        for (std::int32_t k = lane; k < length; k += 32) {
            const std::int32_t place = row + to[k].base - pairs.first;
            const bool inside = place >= 0 && place + slice_rows <= pairs.count;
            to[k].base = to[k].base * 2 + (inside ? 1 : 0);
        }
        __syncwarp();
        if (lane == 0) head.shape = slice_shape(length, regular);
    }

    /// The number-th slice as the lane sees it.
    __device__ slice_reader<T> slice(const sell_view<T>& m, std::int32_t number, std::int32_t row,
                                     int lane) const {
        const slice_head head = heads[number];
        const bool here = number < near;
        return {(here ? near_values : m.values) + std::int64_t{head.first} * slice_rows,
                (here ? near_steps : m.steps) + head.first,
                (here ? near_columns : m.columns) + std::int64_t{head.columns} * column_piece,
                head.length(),
                row,
                head.code(),
                lane};
    }
};

/// Shared memory of a block besides the frame's and the matrix.
struct block_state {
    double warp_sums[resident_sums][resident_warps];
    double sums[resident_sums][max_ranks];
    slice_head heads[block_slices];
    int failed;
};

/// Adds up `count` values over all threads of all blocks of all ranks; every thread gets the same
/// bits. With Publish, what the blocks of this device stored before is visible after it. A block
/// waits for all others. False after a time-out.
template <int Most, bool Publish, class T>
__device__ bool exchange(const compact_frame& f, const resident_operands<T>& a, block_state& s,
                         std::uint64_t epoch, int count, double (&values)[Most]) {
    const int warp = static_cast<int>(threadIdx.x / 32);
    const int lane = static_cast<int>(threadIdx.x & 31);
    const int ranks = f.ranks;
#pragma unroll
    for (int v = 0; v < Most; ++v) {
        if (v >= count) break;
        for (int offset = 16; offset > 0; offset /= 2)
            values[v] += __shfl_down_sync(0xffffffffu, values[v], offset);
        if (lane == 0) s.warp_sums[v][warp] = values[v];
    }
    __syncthreads();
    if (warp == 0) {
        if constexpr (Publish) fence_acq_rel();
#pragma unroll
        for (int v = 0; v < Most; ++v) {
            if (v >= count) break;
            double sum = lane < resident_warps ? s.warp_sums[v][lane] : 0.0;
            for (int offset = 16; offset > 0; offset /= 2)
                sum += __shfl_xor_sync(0xffffffffu, sum, offset);
            if (lane < ranks)
                store_letter(a.boards[lane] + board_place(epoch, ranks, f.mail.rank, v,
                                                          static_cast<int>(blockIdx.x)),
                             {sum, epoch});
        }
    }
    // A warp a rank and value; the last ones first, since warp 0 has just been busy.
    for (int item = resident_warps - 1 - warp; item < ranks * count; item += resident_warps) {
        const int rank = item / count;
        const int v = item - rank * count;
        const int blocks = a.blocks[rank];
        const letter* from = a.board + board_place(epoch, ranks, rank, v, lane);
        letter got[letters_a_lane] = {};
        const auto look = [&] {
            bool all = true;
#pragma unroll
            for (int u = 0; u < letters_a_lane; ++u)
                if (lane + u * 32 < blocks) got[u] = load_letter(from + u * 32);
#pragma unroll
            for (int u = 0; u < letters_a_lane; ++u)
                all = all && (lane + u * 32 >= blocks || got[u].epoch == epoch);
            return all;
        };
        const bool ok = __all_sync(0xffffffffu, wait_until(f.mail, rank, look)) != 0;
        double sum = 0;
#pragma unroll
        for (int u = 0; u < letters_a_lane; ++u) sum += got[u].value;
        for (int offset = 16; offset > 0; offset /= 2)
            sum += __shfl_down_sync(0xffffffffu, sum, offset);
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

// What few rows do is not inlined: the loop must fit into the instruction cache.

/// Waits until the pairs that peers sent before exchange `epoch`, and that a row needs, are there.
template <class T>
__device__ __noinline__ void wait_for_pairs(const compact_frame& f, const resident_operands<T>& a,
                                            const slice_reader<T>& slice, std::uint64_t epoch) {
    for (std::int32_t k = 0; k < slice.length; ++k) {
        const std::int32_t column = slice.column(k);
        if (column < a.rows) continue;
        const letter* const from = a.ghosts + 2 * std::int64_t{column - a.rows};
        wait_until(f.mail, f.mail.rank, [&] {
            return load_letter(from).epoch == epoch && load_letter(from + 1).epoch == epoch;
        });
    }
}

/// A row's pair to one peer.
template <class T>
__device__ void send(letter* to, direction_pair<T> pair, std::uint64_t epoch) {
    store_letter(to, {static_cast<double>(pair.z), epoch});
    store_letter(to + 1, {static_cast<double>(pair.p), epoch});
}

template <class T>
__device__ letter* place_at_peer(const resident_operands<T>& a, std::int32_t entry) {
    const resident_send to = a.sends[entry];
    return a.peer_ghosts[to.peer] + 2 * std::int64_t{to.position};
}

/// To all but the first peer.
template <class T>
__device__ __noinline__ void send_to_others(const resident_operands<T>& a, std::int32_t row,
                                            direction_pair<T> pair, std::uint64_t epoch) {
    for (std::int32_t e = a.first_send[row] + 1; e < a.first_send[row + 1]; ++e)
        send(place_at_peer(a, e), pair, epoch);
}

/// A row of a regular slice with the direction z + beta p. Lanes without an entry multiply some
/// pair by 0: none is infinite, or else the solve has ended.
template <class T>
__device__ T multiply_regular(const resident_operands<T>& a, const near_pairs<T>& near,
                              const slice_reader<T>& slice, T beta) {
    T sum[2] = {};
    for (std::int32_t k = 0; k < slice.length; k += in_flight) {
        direction_pair<T> pair[in_flight];
#pragma unroll
        for (int u = 0; u < in_flight; ++u) {
            pair[u] = {};
            if (k + u >= slice.length) break;
            const std::int32_t word = slice.steps[k + u].base;
            const std::int32_t column = slice.row + (word >> 1);
            pair[u] = (word & 1) != 0 ? near.pairs[column - near.first]
                                      : a.pairs[min(max(column, 0), a.rows - 1)];
        }
#pragma unroll
        for (int u = 0; u < in_flight; ++u) {
            if (k + u >= slice.length) break;
            sum[u % 2] += slice.value(k + u) * fma(beta, pair[u].p, pair[u].z);
        }
    }
    return sum[0] + sum[1];
}

/// A row of the product with the direction z + beta p; `late` where a peer's pair isn't there yet.
template <column_code Code, class T>
__device__ T multiply_row(const resident_operands<T>& a, const near_pairs<T>& near,
                          slice_reader<T> slice, T beta, std::uint64_t epoch, bool& late) {
    slice.code = Code; // the reader's own test goes
    T sum[2] = {};
    for (std::int32_t k = 0; k < slice.length; k += in_flight) {
        direction_pair<T> pair[in_flight];
#pragma unroll
        for (int u = 0; u < in_flight; ++u) {
            const std::int32_t column = k + u < slice.length ? slice.column(k + u) : -1;
            pair[u] = {};
            if (column >= a.rows) {
                const letter* const from = a.ghosts + 2 * std::int64_t{column - a.rows};
                const letter z = load_letter(from);
                const letter p = load_letter(from + 1);
                pair[u] = {static_cast<T>(z.value), static_cast<T>(p.value)};
                late = late || z.epoch != epoch || p.epoch != epoch;
            } else if (column >= 0) {
                pair[u] = near.get(a, column);
            }
        }
#pragma unroll
        for (int u = 0; u < in_flight; ++u) // padding adds 0 * 0
            if (k + u < slice.length)
                sum[u % 2] += slice.value(k + u) * fma(beta, pair[u].p, pair[u].z);
    }
    return sum[0] + sum[1];
}

/// Slices: of a warp, at most.
template <class T, int Slices>
__global__ void __launch_bounds__(resident_threads, 1)
    resident_kernel(const __grid_constant__ compact_frame parameter,
                    const __grid_constant__ resident_operands<T> a) {
    __shared__ frame_state state;
    __shared__ block_state block;
    __shared__ T q[Slices * resident_threads];
    __shared__ letter* first_peer[Slices * resident_threads];
    extern __shared__ __align__(16) unsigned char pool[];
    const compact_frame& f = state.f; // after begin
    double* const reg = state.reg;
    const auto me = static_cast<int>(threadIdx.x);
    const int warp = me / 32;
    const int lane = me & 31;
    constexpr int judge = resident_threads - 32; // in the warp with the fewest slices
    const auto slices = static_cast<std::int64_t>(a.matrix.slices);
    const auto first_slice = static_cast<std::int32_t>(slices * blockIdx.x / gridDim.x);
    const auto last_slice = static_cast<std::int32_t>(slices * (blockIdx.x + 1) / gridDim.x);

    near_pairs<T> near{};
    near.pairs = reinterpret_cast<direction_pair<T>*>(pool);
    near.first = first_slice * slice_rows;
    constexpr auto pair_size = static_cast<std::int32_t>(sizeof(direction_pair<T>));
    const std::int32_t places = (last_slice - first_slice) * slice_rows;
    if (a.matrix.rows == nullptr && places * pair_size <= a.pool_bytes) near.count = places;
    const std::int32_t pair_bytes = near.count * pair_size;
    block_matrix<T> matrix{};
    const auto load_matrix = [&] {
        matrix.load(a.matrix, near, first_slice, last_slice, block.heads, pool + pair_bytes,
                    a.pool_bytes - pair_bytes);
        if (me == 0) block.failed = 0;
    };
    if (!begin(parameter, state, nullptr, load_matrix)) return;

    /// The j-th row of this thread, -1: none.
    const auto row = [&](int j) {
        const std::int32_t number = warp + j * resident_warps;
        return number < matrix.count
                   ? row_at(a.matrix, std::int64_t{first_slice + number} * slice_rows + lane)
                   : -1;
    };
    const T factor = a.scale != no_scale ? static_cast<T>(reg[a.scale]) : T(1);
    T x[Slices] = {};
    T r[Slices] = {};
    const auto load_vectors = [&] {
#pragma unroll
        for (int j = 0; j < Slices; ++j)
            if (const std::int32_t i = row(j); i >= 0) {
                x[j] = a.x[i];
                r[j] = a.r[i];
            }
    };
    const auto store_vectors = [&] {
#pragma unroll
        for (int j = 0; j < Slices; ++j)
            if (const std::int32_t i = row(j); i >= 0) {
                a.x[i] = x[j];
                a.r[i] = r[j];
            }
    };
    unsigned sends = 0; // bit j: row j has a copy at a peer; bit j + Slices: at several
#pragma unroll
    for (int j = 0; j < Slices; ++j) {
        q[j * resident_threads + me] = 0;
        const std::int32_t i = row(j);
        const std::int32_t place = (warp + j * resident_warps) * slice_rows + lane;
        if (place < near.count) // beyond the last row, zero: see multiply_regular
            near.pairs[place] = i >= 0 ? a.pairs[i] : direction_pair<T>{};
        if (i < 0) continue;
        if (a.first_send == nullptr) continue;
        const std::int32_t peers = a.first_send[i + 1] - a.first_send[i];
        if (peers > 0) {
            sends |= 1u << j;
            first_peer[j * resident_threads + me] = place_at_peer(a, a.first_send[i]);
        }
        if (peers > 1) sends |= 1u << (j + Slices);
    }
    load_vectors();

    std::uint64_t epoch = *a.exchanges;
    double rho = reg[a.rho];
    double beta = reg[a.beta];
    T alpha = 0; // the first time the pairs are only published
    bool first = true;
    for (;;) {
        // 48 bytes a row in shared memory, 16 in L2.
        ++epoch;
        double norms[2] = {};
#pragma unroll
        for (int j = 0; j < Slices; ++j) {
            const std::int32_t i = row(j);
            if (i < 0) continue;
            const direction_pair<T> own = near.get(a, i);
            const T p = first ? own.p : fma(static_cast<T>(beta), own.p, own.z);
            x[j] += alpha * p;
            r[j] -= alpha * q[j * resident_threads + me];
            const T z = a.inverse != nullptr ? a.inverse[i] * factor * r[j] : r[j];
            a.pairs[i] = {z, p};
            if (near.count != 0) near.pairs[i - near.first] = {z, p};
            if ((sends >> j & 1) != 0) {
                send<T>(first_peer[j * resident_threads + me], {z, p}, epoch);
                if ((sends >> (j + Slices) & 1) != 0) send_to_others<T>(a, i, {z, p}, epoch);
            }
            norms[0] += static_cast<double>(r[j]) * static_cast<double>(r[j]);
            norms[1] += static_cast<double>(r[j]) * static_cast<double>(z);
        }
        const bool plain = a.inverse == nullptr;
        if (!exchange<2, true>(f, a, block, epoch, plain ? 1 : 2, norms)) break;
        if (plain) norms[1] = norms[0];
        if (!first) {
            beta = norms[1] / rho;
            rho = norms[1];
            if (me == judge) { // all blocks come to the same; seen after the next exchange
                reg[control::iteration] += 1.0;
                if (blockIdx.x == 0 && f.history != nullptr)
                    f.history[static_cast<std::int64_t>(reg[control::iteration])] = norms[0];
                detail::test(reg, norms[0]);
                if (!plain && !(rho > 0)) detail::stop(reg, loop_state::indefinite_preconditioner);
                if (reg[control::iteration] >= reg[control::pause_at])
                    detail::stop(reg, loop_state::pause);
            }
        }
        first = false;

        // Whether the loop has stopped is not known yet: no vector is written here.
        double pq[1] = {};
#pragma unroll 1
        for (int j = 0; j < Slices; ++j) {
            const std::int32_t i = row(j);
            if (i < 0) break;
            const auto slice = matrix.slice(a.matrix, warp + j * resident_warps, i, lane);
            const T b = static_cast<T>(beta);
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
                default: sum = multiply_row<column_code::wide>(a, near, slice, b, epoch, late);
                }
                if (!late) break;
                wait_for_pairs(f, a, slice, epoch);
                if (load_relaxed(f.failure) != 0) break; // the next exchange says so
            }
            const direction_pair<T> own = near.get(a, i);
            const T product = a.alpha * sum;
            q[j * resident_threads + me] = product;
            pq[0] += static_cast<double>(fma(b, own.p, own.z)) * static_cast<double>(product);
        }
        ++epoch;
        if (!exchange<1, false>(f, a, block, epoch, 1, pq)) break;
        if (reg[control::state] != 0.0) break;
        if (!(pq[0] > 0)) { // all threads of all devices agree
            if (me == judge)
                detail::stop(reg, detail::finite(pq[0]) ? loop_state::indefinite_matrix
                                                        : loop_state::not_a_number);
            break;
        }
        alpha = static_cast<T>(rho / pq[0]);
    }

    store_vectors();
    __syncthreads();
    if (blockIdx.x == 0 && me == judge) {
        reg[a.rho] = rho;
        reg[a.beta] = beta;
        const std::uint8_t results[] = {control::state, control::iteration, control::residual,
                                        control::best,  control::best_at,   a.rho,
                                        a.beta};
        static_assert(sizeof results == resident_results);
        for (int i = 0; i < resident_results; ++i) f.slots[a.slots[i]] = reg[results[i]];
        *a.exchanges = epoch;
    }
}

template <class T>
auto kernel_of(std::int32_t slices_a_warp) {
    switch (slices_a_warp) {
    case 1: return resident_kernel<T, 1>;
    case 2: return resident_kernel<T, 2>;
    default: return resident_kernel<T, 4>;
    }
}

} // namespace

resident_shape shape_of_resident(const device& where, std::int64_t slices,
                                 std::int64_t matrix_bytes, std::int64_t pair_bytes) {
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
    KRYLITH_CUDA_CHECK(
        cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, d.ordinal()));
    cudaFuncAttributes attributes{};
    KRYLITH_CUDA_CHECK(cudaFuncGetAttributes(&attributes, kernel_of<double>(shape.slices_a_warp)));
    const std::int64_t room = limit - static_cast<std::int64_t>(attributes.sharedSizeBytes) - 1024;
    // What isn't shared memory is cache of the pairs. Blocks have about as many entries each; where
    // one has more, it reads the rest from memory.
    const std::int64_t wanted =
        matrix_bytes / shape.blocks * 17 / 16 + most * slice_rows * pair_bytes + 4096;
    shape.pool_bytes = static_cast<std::int32_t>(std::min(room, wanted) / 256 * 256);
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
