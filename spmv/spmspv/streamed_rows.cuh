// y = A x by streaming (CSR-stream: Greathouse and Daga, SC 2014): a warp takes 32 rows, whose
// entries lie side by side. It reads them in whole lines, 256 at a time, puts their terms into
// shared memory, and there each lane sums up its row; a row that has more than 32 of the 256 is
// summed up by all lanes. So no length of rows leaves lanes without an entry. While terms are summed
// up, the next entries are under way, across rows' ends. Directly, a giant row stalls its warp;
// balanced, 32 rows with many entries are several warps' (row_tasks.hpp).
//
// Bytes (fp32), m rows: spmv 8 nnz + 4 m + 4 m, and the gather of x, 4 to 32 an entry. row: 4 nnz +
// 4 m + 4 m + m / 8, x's bits from the caches, and 36 to 64 for each entry whose column x has (a
// sector of values, one of x). Balanced m / 2 more. Semirings that read no values: 4 nnz less of
// spmv, a sector less of row. Rows that are skipped are read, too. One launch. Sums in an order that
// depends on the pattern alone: the same each time.
#pragma once

#include <krylith/device/cuda_device.cuh>
#include <krylith/spmv/spmspv/product_launches.hpp>
#include <krylith/spmv/spmspv/row_tasks.hpp>
#include <krylith/spmv/spmspv/row_terms.cuh>
#include <krylith/spmv/spmspv/semiring_result.cuh>
#include <krylith/vector/kernel_frame.cuh>

namespace krylith::cuda {

inline constexpr int stream_at_once = 8; ///< entries a lane
inline constexpr std::uint32_t stream_entries = 32 * stream_at_once;

/// Entries of a row in a piece that its lane sums up alone: as many as two words of marks show.
inline constexpr std::uint32_t stream_own = 32;

/// What a warp works on, in the order of the list; directly, words by their numbers.
template <bool Balanced>
struct streamed_list {
    spmspv::row_tasks list; ///< balanced
    std::uint32_t words;

    [[nodiscard]] __device__ std::uint32_t size() const {
        if constexpr (Balanced) return static_cast<std::uint32_t>(*list.count);
        return words;
    }
    [[nodiscard]] __device__ spmspv::row_task at(std::uint32_t i) const {
        if constexpr (Balanced) {
            const int4 task = *reinterpret_cast<const int4*>(list.tasks + i);
            return {task.x, task.y, task.z, task.w};
        }
        return {static_cast<std::int32_t>(i), 0, 1, 0};
    }
};

/// 32 rows, one word of bits of y.
struct streamed_rows {
    std::uint32_t begin; ///< of the lane's row
    std::uint32_t end;

    [[nodiscard]] __device__ static streamed_rows read(const std::int32_t* offsets,
                                                       std::uint32_t rows, std::int32_t word) {
        const std::uint32_t row =
            min(static_cast<std::uint32_t>(word) * 32 + (threadIdx.x & 31), rows);
        return {static_cast<std::uint32_t>(offsets[row]),
                static_cast<std::uint32_t>(offsets[min(row + 1, rows)])};
    }
};

/// Entries of the task's rows that are its own, [begin, end), from the sector in which they begin.
struct streamed_range {
    std::uint32_t begin;
    std::uint32_t end;

    [[nodiscard]] __device__ static streamed_range of(const streamed_rows& rows,
                                                      const spmspv::row_task& task) {
        const std::uint32_t first = __shfl_sync(0xffffffffu, rows.begin, 0);
        const std::uint32_t last = __shfl_sync(0xffffffffu, rows.end, 31);
        if (task.parts == 1) return {first, last};
        const std::uint32_t from = first / 8 * 8 + static_cast<std::uint32_t>(task.part) *
                                                       spmspv::row_task_entries;
        return {max(first, from), min(last, from + spmspv::row_task_entries)};
    }
    [[nodiscard]] __device__ std::uint32_t first_piece() const { return begin / 8 * 8; }
};
static_assert(spmspv::row_task_entries % stream_entries == 0, "pieces end where parts do");

/// Of a piece of up to 256 entries, which begins at the sector in which they do. Unsigned: places
/// may go beyond the last of 2^31 - 1 entries.
template <class S, bool Masked>
struct streamed_entries {
    using T = typename S::value_type;
    std::int32_t column[stream_at_once]; ///< -1: none of these rows
    T value[stream_at_once];             ///< unless masked

    __device__ void start(const plain_arguments<S>& a, const row_terms<S, Masked>& terms,
                          std::uint32_t piece, const streamed_range& range) {
#pragma unroll
        for (int u = 0; u < stream_at_once; ++u) {
            const std::uint32_t k = piece + static_cast<std::uint32_t>(u) * 32 + (threadIdx.x & 31);
            const bool in = k >= range.begin && k < range.end;
            column[u] = in ? load_once(a.rows.indices + k) : -1;
            if constexpr (!Masked) value[u] = terms.matrix_value(in, k);
        }
    }
};

/// A warp's terms in shared memory; every 32 places one is left out, so that rows of equal lengths
/// that are powers of two don't meet in one bank.
template <class T>
struct streamed_terms {
    T term[stream_entries + stream_at_once];
    std::uint32_t marks[stream_at_once + 2]; ///< which are terms (masked)

    [[nodiscard]] __device__ static std::uint32_t place(std::uint32_t k) { return k + k / 32; }
};

/// Blocks an SM: registers for what is under way.
template <class T, bool Balanced>
inline constexpr int stream_blocks = sizeof(T) == 8 ? 2 : Balanced ? 3 : 4;

/// Leaves what a part of 32 rows has summed up; true for the warp that comes last, which then has
/// the sums of all parts. By whole warps.
template <class S, bool Masked>
__device__ inline bool join_parts(const spmspv::row_tasks& list, const spmspv::row_task& task,
                                  typename S::value_type& sum, bool& there) {
    using T = typename S::value_type;
    const unsigned lane = threadIdx.x & 31;
    T* const sums = reinterpret_cast<T*>(list.sums) + std::int64_t{task.slot} * 32 + lane;
    std::uint32_t* const marks = list.marks + task.slot;
    sums[task.part * 32] = sum;
    if constexpr (Masked) {
        const unsigned mark = __ballot_sync(0xffffffffu, there);
        if (lane == 0) marks[task.part] = mark;
    }
    __syncwarp();
    unsigned before = 0;
    if (lane == 0) before = count_blocks(list.arrived + task.slot, 1);
    before = __shfl_sync(0xffffffffu, before, 0);
    if (before != static_cast<unsigned>(task.parts) - 1) return false;
    if (lane == 0) list.arrived[task.slot] = 0;
    sum = S::absent();
    std::uint32_t mark = 0;
#pragma unroll 8
    for (int part = 0; part < task.parts; ++part) {
        sum = S::add(sum, __ldcg(sums + part * 32));
        if constexpr (Masked) mark |= __ldcg(marks + part);
    }
    there = (mark >> lane & 1) != 0;
    return true;
}

template <class S, bool Masked, bool Balanced>
__global__ void __launch_bounds__(block_threads, stream_blocks<typename S::value_type, Balanced>)
    streamed_row_kernel(const __grid_constant__ plain_arguments<S> a,
                        const __grid_constant__ streamed_list<Balanced> list) {
    using T = typename S::value_type;
    constexpr unsigned all = 0xffffffffu;
    __shared__ streamed_terms<T> terms_of_warps[block_warps];
    streamed_terms<T>& shared = terms_of_warps[threadIdx.x / 32];
    const row_terms<S, Masked> terms{a.rows.values, a.x.dense, a.x.bits};
    const result_rows<S> results{a.y.dense, a.alpha, a.beta, a.skip_rows};
    const std::uint32_t lane = threadIdx.x & 31;
    const auto rows = static_cast<std::uint32_t>(a.rows.lines);
    const std::uint32_t size = list.size();
    const std::uint32_t stride = gridDim.x * block_warps;
    std::uint32_t number = blockIdx.x * block_warps + threadIdx.x / 32;
    if (number >= size) return;
    if (lane < 2) shared.marks[stream_at_once + lane] = 0;

    // The rows of the next task and the task behind that are on their way.
    const auto task_at = [&](std::uint32_t ahead) {
        return list.at((size - 1 - number) / stride >= ahead ? number + ahead * stride : number);
    };
    const auto rows_of = [&](const spmspv::row_task& task) {
        return streamed_rows::read(a.rows.offsets, rows, task.word);
    };
    spmspv::row_task task = list.at(number);
    spmspv::row_task next_task = task_at(1);
    spmspv::row_task later_task = task_at(2);
    streamed_rows own = rows_of(task);
    streamed_rows next = rows_of(next_task);
    streamed_range range = streamed_range::of(own, task);
    std::uint32_t piece = range.first_piece();
    streamed_entries<S, Masked> loads;
    loads.start(a, terms, piece, range);
    T sum = S::absent();
    bool there = false;
    for (;;) {
        bool hit[stream_at_once];
        T term[stream_at_once];
#pragma unroll
        for (int u = 0; u < stream_at_once; ++u)
            hit[u] = terms.has(loads.column[u] >= 0, loads.column[u]);
#pragma unroll
        for (int u = 0; u < stream_at_once; ++u) {
            if constexpr (Masked)
                loads.value[u] =
                    terms.matrix_value(hit[u], piece + static_cast<std::uint32_t>(u) * 32 + lane);
            term[u] = terms.vector_value(hit[u], loads.column[u]);
        }
#pragma unroll
        for (int u = 0; u < stream_at_once; ++u)
            term[u] = hit[u] ? S::term(loads.value[u], term[u], loads.column[u]) : S::absent();

        const bool task_ends = range.end - piece <= stream_entries;
        const std::uint32_t begin = max(own.begin, piece);
        const std::uint32_t end = max(min(own.end, piece + stream_entries), begin);
        const std::uint32_t from = begin - piece; // meaningless where the row has none of the piece
        const std::uint32_t count = end - begin;
        const spmspv::row_task done = task;
        const bool more = (size - 1 - number) / stride >= 1;
        if (!task_ends) {
            piece += stream_entries;
            loads.start(a, terms, piece, range);
        } else if (more) {
            number += stride;
            task = next_task;
            own = next;
            range = streamed_range::of(own, task);
            piece = range.first_piece();
            loads.start(a, terms, piece, range);
            next_task = later_task;
            next = rows_of(next_task);
            later_task = task_at(2);
        }

#pragma unroll
        for (int u = 0; u < stream_at_once; ++u) {
            shared.term[streamed_terms<T>::place(static_cast<std::uint32_t>(u) * 32 + lane)] =
                term[u];
            if constexpr (Masked) {
                const std::uint32_t mark = __ballot_sync(all, hit[u]);
                if (lane == static_cast<std::uint32_t>(u)) shared.marks[u] = mark;
            }
        }
        __syncwarp();
        if (count <= stream_own) {
#pragma unroll 4
            for (std::uint32_t k = from; k < from + count; ++k)
                sum = S::add(sum, shared.term[streamed_terms<T>::place(k)]);
            if constexpr (Masked) {
                if (count > 0) {
                    const std::uint32_t marks = __funnelshift_r(
                        shared.marks[from / 32], shared.marks[from / 32 + 1], from % 32);
                    there = there || marks << (32 - count) != 0;
                }
            }
        }
        for (unsigned longer = __ballot_sync(all, count > stream_own); longer != 0;
             longer &= longer - 1) {
            const int source = __ffs(static_cast<int>(longer)) - 1;
            const std::uint32_t of = __shfl_sync(all, from, source);
            const std::uint32_t behind = of + __shfl_sync(all, count, source);
            T part = S::absent();
            bool marked = false;
            for (std::uint32_t k = of + lane; k < behind; k += 32) {
                part = S::add(part, shared.term[streamed_terms<T>::place(k)]);
                if constexpr (Masked)
                    marked = marked || (shared.marks[k / 32] >> (k % 32) & 1) != 0;
            }
#pragma unroll
            for (int by = 16; by > 0; by /= 2) part = S::add(part, __shfl_xor_sync(all, part, by));
            const bool any = Masked && __any_sync(all, marked);
            if (lane == static_cast<std::uint32_t>(source)) {
                sum = S::add(sum, part);
                there = there || any;
            }
        }
        __syncwarp();
        if (!task_ends) continue;
        bool whole = true;
        if constexpr (Balanced) {
            if (done.parts > 1) whole = join_parts<S, Masked>(list.list, done, sum, there);
        }
        if (whole) {
            const std::uint32_t row = static_cast<std::uint32_t>(done.word) * 32 + lane;
            if (row < rows) results.row(row, sum);
            if constexpr (Masked) {
                std::uint32_t marks = __ballot_sync(all, there);
                if (a.skip_rows != nullptr) marks &= ~a.skip_rows[done.word];
                if (lane == 0) a.y.bits[done.word] = marks;
            }
        }
        if (!more) return;
        sum = S::absent();
        there = false;
    }
}

template <class S, bool Masked, bool Balanced>
void multiply_streamed_rows(device& where, const plain_arguments<S>& a) {
    const launch_scope launch(where);
    const auto kernel = streamed_row_kernel<S, Masked, Balanced>;
    const std::int64_t words = spmspv::row_tasks::words(a.rows.lines);
    streamed_list<Balanced> list{{}, static_cast<std::uint32_t>(words)};
    std::int64_t most = words;
    if constexpr (Balanced) {
        list.list = spmspv::row_tasks::in(a.row_scratch, a.rows.lines, a.rows.nonzeros);
        most += a.rows.nonzeros / spmspv::row_task_entries;
    }
    kernel<<<launch.blocks(kernel, block_threads, (most + block_warps - 1) / block_warps),
             block_threads, 0, launch.stream()>>>(a, list);
    launch.check_launch();
}

} // namespace krylith::cuda
