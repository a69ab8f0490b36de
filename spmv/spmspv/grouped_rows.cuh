// y = A x where all terms of a row count: each row is added up by a group of 1 to 32 lanes, a few
// entries a lane, and what a long row has left by the whole warp. A warp takes 32 rows, one word of
// bits of y, whose results end in a lane each, so that offsets, y and bits are read and written in
// whole lines; a group's entries lie side by side, and what else a line has of them comes from the
// L1 cache. Of balanced products (`Cut`) no warp takes more than a piece (row_pieces.hpp) at once;
// else a giant row stalls its warp.
//
// Where x comes from the caches, what bounds it is the number of instructions: some 12 for 32
// entries. So a lane has several entries of a row, and a row few lanes; shared memory, segmented
// sums and loads started ahead cost more than they saved (31 million entries of a web graph: 86
// instructions, and 1.4 times as long).
//
// Bytes (fp32), m rows: spmv 8 nnz + 4 m + 4 m, and the gather of x, 4 to 32 an entry. row: 4 nnz +
// 4 m + 4 m + m / 8, x's bits from the caches, and 36 to 64 for each entry whose column x has (a
// sector of values, one of x). Semirings that read no values: 4 nnz less of spmv, a sector less of
// row. Rows that are skipped are read, too. A piece: 256 written and read again. One launch. Sums
// in a fixed order: the same each time.
#pragma once

#include <algorithm>
#include <type_traits>

#include <krylith/device/cuda_device.cuh>
#include <krylith/spmv/spmspv/product_launches.hpp>
#include <krylith/spmv/spmspv/row_pieces.hpp>
#include <krylith/spmv/spmspv/row_terms.cuh>
#include <krylith/spmv/spmspv/semiring_result.cuh>
#include <krylith/vector/kernel_frame.cuh>

namespace krylith::cuda {

/// What a warp takes: 32 rows, one word of bits of y, or of a long word a piece.
template <bool Cut>
struct row_task {
    std::uint32_t number; ///< pieces come first, then words
    std::uint32_t begin;  ///< entries of the lane's row: after clip() those of the task
    std::uint32_t end;
    std::int32_t part; ///< of a piece; else one of these:
    static constexpr std::int32_t whole_word = -1;
    static constexpr std::int32_t nothing = -2; ///< a long word, whose pieces others take

    /// Nothing waits for what is read here before clip().
    [[nodiscard]] __device__ static row_task read(const spmspv::row_pieces& pieces,
                                                  const std::int32_t* offsets, std::uint32_t rows,
                                                  std::uint32_t task) {
        row_task t{task, 0, 0, whole_word};
        std::uint32_t word = task;
        if constexpr (Cut) {
            const auto count = static_cast<std::uint32_t>(pieces.count);
            if (task < count) {
                const spmspv::row_piece piece = pieces.list[task];
                word = static_cast<std::uint32_t>(piece.word);
                t.part = piece.part;
            } else {
                word = task - count;
            }
        }
        const std::uint32_t row = min(word * 32 + (threadIdx.x & 31), rows);
        t.begin = static_cast<std::uint32_t>(offsets[row]);
        t.end = static_cast<std::uint32_t>(offsets[min(row + 1, rows)]);
        return t;
    }
    [[nodiscard]] __device__ std::uint32_t word(const spmspv::row_pieces& pieces) const {
        if constexpr (!Cut) return number;
        const auto count = static_cast<std::uint32_t>(pieces.count);
        return number >= count ? number - count
                               : static_cast<std::uint32_t>(pieces.list[number].word);
    }
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
};

/// What becomes of sums: y. Others have the same members.
template <class S>
struct stored_sums : result_rows<S> {
    using T = typename S::value_type;
    static constexpr int blocks = sizeof(T) == 8 ? 4 : 5; ///< a multiprocessor

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
__device__ inline bool join_pieces(const spmspv::row_pieces& pieces, const row_task<true>& last,
                                   typename S::value_type& sum, bool& there) {
    using T = typename S::value_type;
    constexpr unsigned all = 0xffffffffu;
    const std::uint32_t lane = threadIdx.x & 31;
    const std::uint32_t at = last.number;
    auto* const sums = static_cast<T*>(pieces.sums);
    sums[at * 32 + lane] = sum;
    const std::uint32_t marks = __ballot_sync(all, there);
    const std::uint32_t first = at - static_cast<std::uint32_t>(last.part);
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

/// Rows of a task that groups of lanes add up at once, `at_once` a group, and `depth` entries of
/// each a lane in a round.
template <class S, bool Masked, int Lanes>
class row_groups {
    using T = typename S::value_type;
    using deal = spmspv::rows_of_warp<Lanes>;
    static constexpr unsigned all = 0xffffffffu;
    static constexpr int at_once = Lanes == 1 ? 1 : 2;
    static constexpr int depth = Lanes == 1 ? 8 : 4;

public:
    __device__ row_groups(const std::int32_t* columns, const row_terms<S, Masked>& terms)
        : columns_(columns), terms_(terms) {}

    /// By the warp: sums of rows [begin, end), a row a lane. `there`: whether it has a term.
    __device__ void add_up(std::uint32_t begin, std::uint32_t end, T& sum, bool& there) {
        const int lane = static_cast<int>(threadIdx.x & 31);
        constexpr unsigned lowest = Lanes == 32 ? all : (1u << (Lanes % 32)) - 1;
#pragma unroll 1
        for (int first = 0; first < Lanes; first += at_once) {
#pragma unroll
            for (int u = 0; u < at_once; ++u) {
                const int source = deal::row(first + u, lane);
                k_[u] = __shfl_sync(all, begin, source) + static_cast<unsigned>(lane % Lanes);
                stop_[u] = __shfl_sync(all, end, source);
                part_[u] = S::absent();
                any_[u] = false;
            }
            for (;;) {
                round();
                unsigned left[at_once];
                int rows = 0;
#pragma unroll
                for (int u = 0; u < at_once; ++u) {
                    left[u] = __ballot_sync(all, k_[u] < stop_[u] && lane % Lanes == 0);
                    rows += __popc(left[u]);
                }
                if (rows > few) continue;
#pragma unroll
                for (int u = 0; u < at_once; ++u)
                    for (; left[u] != 0; left[u] &= left[u] - 1)
                        finish(u, __ffs(static_cast<int>(left[u])) - 1);
                break;
            }
#pragma unroll
            for (int u = 0; u < at_once; ++u) {
#pragma unroll
                for (int by = Lanes / 2; by > 0; by /= 2)
                    part_[u] = S::add(part_[u], __shfl_xor_sync(all, part_[u], by));
                const T result = __shfl_sync(all, part_[u], deal::lane_of(lane));
                const unsigned hits = Masked ? __ballot_sync(all, any_[u]) : 0;
                if (deal::step_of(lane) != first + u) continue;
                sum = result;
                there = (hits >> deal::lane_of(lane) & lowest) != 0;
            }
        }
    }

private:
    /// Rows that the whole warp takes one by one.
    static constexpr int few = 2;

    /// Entries of all groups' rows.
    __device__ void round() {
        bool hit[at_once][depth];
        std::int32_t column[at_once][depth];
        T matrix[at_once][depth];
        T term[at_once][depth];
#pragma unroll
        for (int u = 0; u < at_once; ++u)
#pragma unroll
            for (int d = 0; d < depth; ++d)
                start(k_[u] + d * Lanes, stop_[u], hit[u][d], column[u][d], matrix[u][d]);
#pragma unroll
        for (int u = 0; u < at_once; ++u)
#pragma unroll
            for (int d = 0; d < depth; ++d)
                look(k_[u] + d * Lanes, hit[u][d], column[u][d], matrix[u][d], term[u][d]);
#pragma unroll
        for (int u = 0; u < at_once; ++u) {
#pragma unroll
            for (int d = 0; d < depth; ++d)
                take(hit[u][d], column[u][d], matrix[u][d], term[u][d], part_[u], any_[u]);
            k_[u] += depth * Lanes;
        }
    }

    /// By the whole warp: what is left of the row that lane `leader` begins.
    __device__ void finish(int u, int leader) {
        const std::uint32_t lane = threadIdx.x & 31;
        const std::uint32_t stop = __shfl_sync(all, stop_[u], leader);
        T part = S::absent();
        bool any = false;
        for (std::uint32_t k = __shfl_sync(all, k_[u], leader) + lane; k < stop; k += 4 * 32) {
            bool hit[4];
            std::int32_t column[4];
            T matrix[4];
            T term[4];
#pragma unroll
            for (int d = 0; d < 4; ++d) start(k + d * 32, stop, hit[d], column[d], matrix[d]);
#pragma unroll
            for (int d = 0; d < 4; ++d) look(k + d * 32, hit[d], column[d], matrix[d], term[d]);
#pragma unroll
            for (int d = 0; d < 4; ++d) take(hit[d], column[d], matrix[d], term[d], part, any);
        }
#pragma unroll
        for (int by = 16; by > 0; by /= 2) part = S::add(part, __shfl_xor_sync(all, part, by));
        if constexpr (Masked) any = __any_sync(all, any);
        if (lane != static_cast<std::uint32_t>(leader)) return;
        part_[u] = S::add(part_[u], part);
        any_[u] = any_[u] || any;
    }

    // An entry, in three steps, so that those of several are under way at once.

    __device__ void start(std::uint32_t k, std::uint32_t stop, bool& hit, std::int32_t& column,
                          T& matrix) const {
        hit = k < stop;
        column = hit ? load_once(columns_ + k) : 0;
        if constexpr (!Masked) matrix = terms_.matrix_value(hit, k);
    }
    __device__ void look(std::uint32_t k, bool& hit, std::int32_t column, T& matrix,
                         T& term) const {
        hit = terms_.has(hit, column);
        if constexpr (Masked) matrix = terms_.matrix_value(hit, k);
        term = terms_.vector_value(hit, column);
    }
    __device__ void take(bool hit, std::int32_t column, T matrix, T vector, T& part,
                         bool& any) const {
        if (!hit) return;
        part = S::add(part, S::term(matrix, vector, column));
        any = true;
    }

    const std::int32_t* columns_;
    const row_terms<S, Masked>& terms_;
    // Of the rows under way. Unsigned: places may go beyond the last of 2^31 - 1 entries.
    std::uint32_t k_[at_once];
    std::uint32_t stop_[at_once];
    T part_[at_once];
    bool any_[at_once];
};

/// By all warps of the grid.
template <class S, bool Masked, bool Cut, int Lanes, class Results>
__device__ inline void add_up_rows(const plain_arguments<S>& a, Results& results) {
    using T = typename S::value_type;
    using task_type = row_task<Cut>;
    const row_terms<S, Masked> terms{a.rows.values, a.x.dense, a.x.bits};
    row_groups<S, Masked, Lanes> groups(a.rows.indices, terms);
    const std::uint32_t lane = threadIdx.x & 31;
    const auto rows = static_cast<std::uint32_t>(a.rows.lines);
    const std::uint32_t tasks = rows / 32 + (rows % 32 != 0 ? 1 : 0) +
                                (Cut ? static_cast<std::uint32_t>(a.pieces.count) : 0);
    const std::uint32_t stride = gridDim.x * block_warps;
    const std::uint32_t number = blockIdx.x * block_warps + threadIdx.x / 32;
    if (number >= tasks) return;
    task_type behind = task_type::read(a.pieces, a.rows.offsets, rows, number);
    for (;;) {
        task_type own = behind;
        const bool more = tasks - own.number > stride;
        if (more) behind = task_type::read(a.pieces, a.rows.offsets, rows, own.number + stride);
        own.clip();
        const std::uint32_t word = own.word(a.pieces);
        const std::uint32_t row = word * 32 + lane;
        bool complete = own.part == task_type::whole_word;
        typename Results::row_state state{};
        if (complete && row < rows) state = results.read(row);
        T sum = S::absent();
        bool there = false;
        groups.add_up(own.begin, own.end, sum, there);
        if constexpr (Cut) {
            if (own.part >= 0) {
                complete = join_pieces<S, Masked>(a.pieces, own, sum, there);
                if (complete && row < rows) state = results.read(row);
            }
        }
        if (complete) {
            if (row < rows) results.row(row, sum, state);
            if constexpr (Masked) {
                std::uint32_t marks = __ballot_sync(0xffffffffu, there);
                if (a.skip_rows != nullptr) marks &= ~a.skip_rows[word];
                if (lane == 0) a.y.bits[word] = marks;
            }
        }
        if (!more) return;
    }
}

template <class S, bool Masked, bool Cut, int Lanes, class Results>
__global__ void __launch_bounds__(block_threads, Results::blocks)
    grouped_row_kernel(const __grid_constant__ plain_arguments<S> a,
                       const __grid_constant__ Results given) {
    Results results = given;
    add_up_rows<S, Masked, Cut, Lanes>(a, results);
    results.finish();
}

template <class S, bool Masked, bool Cut, int Lanes, class Results>
void launch_grouped_rows(const Results& results, device& where, const plain_arguments<S>& a,
                         unsigned most_blocks) {
    const launch_scope launch(where);
    const auto kernel = grouped_row_kernel<S, Masked, Cut, Lanes, Results>;
    const std::int64_t tasks = (std::int64_t{a.rows.lines} + 31) / 32 + (Cut ? a.pieces.count : 0);
    const unsigned blocks =
        launch.blocks(kernel, block_threads, (tasks + block_warps - 1) / block_warps);
    kernel<<<std::min(blocks, most_blocks), block_threads, 0, launch.stream()>>>(a, results);
    launch.check_launch();
}

/// Enqueues: results.row(row, sum, state) of each row, whose state was results.read(row), and in
/// the end results.finish().
template <class S, bool Masked, bool Cut, class Results>
void multiply_rows_into(const Results& results, device& where, const plain_arguments<S>& a,
                        unsigned most_blocks = ~0U) {
    const auto launch = [&]<int Lanes>(std::integral_constant<int, Lanes>) {
        launch_grouped_rows<S, Masked, Cut, Lanes>(results, where, a, most_blocks);
    };
    // A sixth of the mean row.
    switch (spmspv::lanes_a_line(a.rows.lines, a.rows.nonzeros / 6)) {
    case 1: return launch(std::integral_constant<int, 1>());
    case 2: return launch(std::integral_constant<int, 2>());
    case 4: return launch(std::integral_constant<int, 4>());
    case 8: return launch(std::integral_constant<int, 8>());
    default: return launch(std::integral_constant<int, 32>());
    }
}

template <class S, bool Masked, bool Cut>
void multiply_grouped_rows(device& where, const plain_arguments<S>& a) {
    const stored_sums<S> sums{{a.y.dense, a.alpha, a.beta, a.skip_rows}};
    multiply_rows_into<S, Masked, Cut>(sums, where, a);
}

} // namespace krylith::cuda
