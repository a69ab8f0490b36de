// y = A x by streaming (CSR-stream: Greathouse and Daga, SC 2014): a warp takes 32 rows, whose
// entries lie side by side. It reads them in whole lines, 256 at a time, puts their terms into
// shared memory, and there each lane sums up its row; a row that has more than 32 of the 256 is
// summed up by all lanes. So no length of rows leaves lanes without an entry. While terms are
// summed up, the next entries are under way, across rows' ends. Of balanced products (`Cut`) no
// warp takes more than a piece (row_pieces.hpp) at once; else a giant row stalls its warp.
//
// Bytes (fp32), m rows: spmv 8 nnz + 4 m + 4 m, and the gather of x, 4 to 32 an entry. row: 4 nnz +
// 4 m + 4 m + m / 8, x's bits from the caches, and 36 to 64 for each entry whose column x has (a
// sector of values, one of x). Semirings that read no values: 4 nnz less of spmv, a sector less of
// row. Rows that are skipped are read, too. A piece: 256 written and read again. One launch. Sums
// in the order of entries, and of pieces: the same each time.
#pragma once

#include <algorithm>

#include <krylith/device/cuda_device.cuh>
#include <krylith/spmv/spmspv/product_launches.hpp>
#include <krylith/spmv/spmspv/row_pieces.hpp>
#include <krylith/spmv/spmspv/row_terms.cuh>
#include <krylith/spmv/spmspv/semiring_result.cuh>
#include <krylith/vector/kernel_frame.cuh>

namespace krylith::cuda {

inline constexpr int stream_at_once = 8; ///< entries a lane
inline constexpr std::uint32_t stream_entries = 32 * stream_at_once;

/// Entries of a row in a piece that its lane sums up alone: as many as two words of marks show.
inline constexpr std::uint32_t stream_own = 32;

/// What a warp takes: 32 rows, one word of bits of y, or of a long word a piece.
template <bool Cut>
struct streamed_task {
    std::uint32_t number; ///< pieces come first, then words
    std::uint32_t begin;  ///< entries of the lane's row: after clip() those of the task
    std::uint32_t end;
    std::uint32_t cut_word;
    std::int32_t part; ///< of a piece; else one of these:
    static constexpr std::int32_t whole_word = -1;
    static constexpr std::int32_t nothing = -2; ///< a long word, whose pieces others take

    /// Nothing waits for what is read here before clip().
    [[nodiscard]] __device__ static streamed_task read(const spmspv::row_pieces& pieces,
                                                       const std::int32_t* offsets,
                                                       std::uint32_t rows, std::uint32_t task) {
        streamed_task t{task, 0, 0, 0, whole_word};
        if constexpr (Cut) {
            const auto count = static_cast<std::uint32_t>(pieces.count);
            if (task < count) {
                const spmspv::row_piece piece = pieces.list[task];
                t.cut_word = static_cast<std::uint32_t>(piece.word);
                t.part = piece.part;
            } else {
                t.cut_word = task - count;
            }
        }
        const std::uint32_t row = min(t.word() * 32 + (threadIdx.x & 31), rows);
        t.begin = static_cast<std::uint32_t>(offsets[row]);
        t.end = static_cast<std::uint32_t>(offsets[min(row + 1, rows)]);
        return t;
    }
    [[nodiscard]] __device__ std::uint32_t word() const { return Cut ? cut_word : number; }
    [[nodiscard]] __device__ std::uint32_t first() const {
        return __shfl_sync(0xffffffffu, begin, 0);
    }
    [[nodiscard]] __device__ std::uint32_t last() const {
        return __shfl_sync(0xffffffffu, end, 31);
    }
    /// By the warp: cuts rows to the piece, or to nothing.
    __device__ void clip() {
        if constexpr (Cut) {
            const std::uint32_t from = first();
            const std::uint32_t entries = last() - from;
            if (part < 0 && entries <= spmspv::whole_word_entries) return;
            std::uint32_t low = from;
            std::uint32_t high = from;
            if (part < 0) {
                part = nothing;
            } else {
                const std::uint32_t each = spmspv::piece_entries(entries);
                low += static_cast<std::uint32_t>(part) * each;
                high += min((static_cast<std::uint32_t>(part) + 1) * each, entries);
            }
            begin = min(max(begin, low), high);
            end = min(max(end, low), high);
        }
    }
    [[nodiscard]] __device__ bool whole() const { return part == whole_word; }
};

/// Of a piece of up to 256 entries, which begins at the sector in which they do. Unsigned: places
/// may go beyond the last of 2^31 - 1 entries.
template <class S, bool Masked>
struct streamed_entries {
    using T = typename S::value_type;
    std::int32_t column[stream_at_once]; ///< -1: none of these rows
    T value[stream_at_once];             ///< unless masked

    __device__ void start(const plain_arguments<S>& a, const row_terms<S, Masked>& terms,
                          std::uint32_t piece, std::uint32_t first, std::uint32_t last) {
#pragma unroll
        for (int u = 0; u < stream_at_once; ++u) {
            const std::uint32_t k = piece + static_cast<std::uint32_t>(u) * 32 + (threadIdx.x & 31);
            const bool in = k >= first && k < last;
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

/// What becomes of sums: y. Others have the same members.
template <class S>
struct stored_sums : result_rows<S> {
    using T = typename S::value_type;
    static constexpr int blocks = sizeof(T) == 8 ? 2 : 4; ///< registers for what is under way

    struct row_state {}; ///< read while the row's terms are under way
    [[nodiscard]] __device__ row_state read(std::int64_t) const { return {}; }
    __device__ void row(std::int64_t row, T sum, const row_state&) const {
        result_rows<S>::row(row, sum);
    }
    /// By all threads of all blocks, in the end.
    __device__ void finish() const {}
};

/// By the warp, after a piece: true with the word's sums if it was the last of its pieces.
template <class S, bool Masked>
__device__ inline bool join_pieces(const spmspv::row_pieces& pieces,
                                   const streamed_task<true>& task, typename S::value_type& sum,
                                   bool& there) {
    using T = typename S::value_type;
    constexpr unsigned all = 0xffffffffu;
    const std::uint32_t lane = threadIdx.x & 31;
    const std::uint32_t at = task.number;
    auto* const sums = static_cast<T*>(pieces.sums);
    sums[at * 32 + lane] = sum;
    const std::uint32_t marks = __ballot_sync(all, there);
    const std::uint32_t first = at - static_cast<std::uint32_t>(task.part);
    const auto parts = static_cast<std::uint32_t>(pieces.list[at].parts);
    __syncwarp();
    unsigned before = 0;
    if (lane == 0) {
        if constexpr (Masked) pieces.marks[at] = marks;
        before = count_blocks(pieces.arrived + first, 1);
    }
    before = __shfl_sync(all, before, 0);
    if (before + 1 != parts) return false;
    __syncwarp();
    if (lane == 0) pieces.arrived[first] = 0;
    sum = S::absent();
    there = false;
    // Past the L1 cache: other multiprocessors wrote these.
#pragma unroll 8
    for (std::uint32_t p = first; p < first + parts; ++p) {
        sum = S::add(sum, __ldcg(sums + p * 32 + lane));
        if constexpr (Masked) there = there || (__ldcg(pieces.marks + p) >> lane & 1) != 0;
    }
    return true;
}

/// By all warps of the grid.
template <class S, bool Masked, bool Cut, class Results>
__device__ inline void stream_rows(const plain_arguments<S>& a,
                                   streamed_terms<typename S::value_type>& shared,
                                   Results& results) {
    using T = typename S::value_type;
    using task_type = streamed_task<Cut>;
    constexpr unsigned all = 0xffffffffu;
    const row_terms<S, Masked> terms{a.rows.values, a.x.dense, a.x.bits};
    const std::uint32_t lane = threadIdx.x & 31;
    const auto rows = static_cast<std::uint32_t>(a.rows.lines);
    const std::uint32_t tasks = rows / 32 + (rows % 32 != 0 ? 1 : 0) +
                                (Cut ? static_cast<std::uint32_t>(a.pieces.count) : 0);
    const std::uint32_t stride = gridDim.x * block_warps;
    const std::uint32_t number = blockIdx.x * block_warps + threadIdx.x / 32;
    if (number >= tasks) return;
    if (lane < 2) shared.marks[stream_at_once + lane] = 0;
    const auto read = [&](std::uint32_t task) {
        return task_type::read(a.pieces, a.rows.offsets, rows, task);
    };

    constexpr std::uint32_t sector = 8;
    task_type own = read(number);
    task_type next = own; // behind this one
    if (tasks - number > stride) next = read(number + stride);
    own.clip();
    std::uint32_t first = own.first();
    std::uint32_t last = own.last();
    std::uint32_t piece = first / sector * sector;
    streamed_entries<S, Masked> loads;
    loads.start(a, terms, piece, first, last);
    T sum = S::absent();
    bool there = false;
    for (;;) {
        const bool task_ends = last - piece <= stream_entries;
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
        const task_type done = own;
        const std::uint32_t row = done.word() * 32 + lane;
        typename Results::row_state state{};
        if (task_ends && done.whole() && row < rows) state = results.read(row);
#pragma unroll
        for (int u = 0; u < stream_at_once; ++u)
            term[u] = hit[u] ? S::term(loads.value[u], term[u], loads.column[u]) : S::absent();

        const std::uint32_t begin = max(own.begin, piece);
        const std::uint32_t end = max(min(own.end, piece + stream_entries), begin);
        const std::uint32_t from = begin - piece; // meaningless where the row has none of the piece
        const std::uint32_t count = end - begin;
        if (task_ends) {
            if (tasks - own.number > stride) {
                own = next;
                own.clip();
                first = own.first();
                last = own.last();
                piece = first / sector * sector;
                if (tasks - own.number > stride) next = read(own.number + stride);
                loads.start(a, terms, piece, first, last);
            }
        } else {
            piece += stream_entries;
            loads.start(a, terms, piece, first, last);
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
        bool complete = done.whole();
        if constexpr (Cut) {
            if (done.part >= 0) {
                complete = join_pieces<S, Masked>(a.pieces, done, sum, there);
                if (complete && row < rows) state = results.read(row);
            }
        }
        if (complete) {
            if (row < rows) results.row(row, sum, state);
            if constexpr (Masked) {
                std::uint32_t marks = __ballot_sync(all, there);
                if (a.skip_rows != nullptr) marks &= ~a.skip_rows[done.word()];
                if (lane == 0) a.y.bits[done.word()] = marks;
            }
        }
        if (own.number == done.number) return;
        sum = S::absent();
        there = false;
    }
}

template <class S, bool Masked, bool Cut, class Results>
__global__ void __launch_bounds__(block_threads, Results::blocks)
    streamed_row_kernel(const __grid_constant__ plain_arguments<S> a,
                        const __grid_constant__ Results given) {
    __shared__ streamed_terms<typename S::value_type> terms_of_warps[block_warps];
    Results results = given;
    stream_rows<S, Masked, Cut>(a, terms_of_warps[threadIdx.x / 32], results);
    results.finish();
}

template <class S, bool Masked, bool Cut, class Results>
void stream_rows_into(const Results& results, device& where, const plain_arguments<S>& a,
                      unsigned most_blocks = ~0U) {
    const launch_scope launch(where);
    const auto kernel = streamed_row_kernel<S, Masked, Cut, Results>;
    const std::int64_t tasks = (std::int64_t{a.rows.lines} + 31) / 32 + (Cut ? a.pieces.count : 0);
    const unsigned blocks =
        launch.blocks(kernel, block_threads, (tasks + block_warps - 1) / block_warps);
    kernel<<<std::min(blocks, most_blocks), block_threads, 0, launch.stream()>>>(a, results);
    launch.check_launch();
}

template <class S, bool Masked, bool Cut>
void multiply_streamed_rows(device& where, const plain_arguments<S>& a) {
    const stored_sums<S> sums{{a.y.dense, a.alpha, a.beta, a.skip_rows}};
    stream_rows_into<S, Masked, Cut>(sums, where, a);
}

} // namespace krylith::cuda
