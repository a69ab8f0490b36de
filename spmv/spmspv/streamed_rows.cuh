// y = A x by streaming (CSR-stream: Greathouse and Daga, SC 2014): a warp takes 32 rows, whose
// entries lie side by side. It reads them in whole lines, 256 at a time, puts their terms into
// shared memory, and there each lane sums up its row; where some row has more than 16 of the 256,
// segmented sums of 32 places each by all lanes come first. So no length of rows leaves lanes
// without an entry. Of balanced products (`Cut`) no
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

/// Entries of a row in a piece that its lane sums up alone.
inline constexpr std::uint32_t stream_own = 16;

/// What a warp takes: 32 rows, one word of bits of y, or of a long word a piece.
template <bool Cut>
struct streamed_task {
    std::uint32_t number; ///< pieces come first, then words
    std::uint32_t begin;  ///< entries of the lane's row: after clip() those of the task
    std::uint32_t end;
    std::int32_t part; ///< of a piece; else one of these:
    static constexpr std::int32_t whole_word = -1;
    static constexpr std::int32_t nothing = -2; ///< a long word, whose pieces others take

    /// Nothing waits for what is read here before clip().
    [[nodiscard]] __device__ static streamed_task read(const spmspv::row_pieces& pieces,
                                                       const std::int32_t* offsets,
                                                       std::uint32_t rows, std::uint32_t task) {
        streamed_task t{task, 0, 0, whole_word};
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

/// Up to 256 entries of a task, which begin at the sector where they do. Places in it may go beyond
/// the last of 2^31 - 1 entries: unsigned.
template <bool Cut>
struct streamed_piece {
    std::uint32_t base; ///< entry at place 0
    std::uint32_t first;
    std::uint32_t last;   ///< entries [first, last) belong to the task
    std::uint32_t from;   ///< place of the lane's row, meaningless where it has no entry here
    std::uint32_t count;  ///< of the lane's row
    std::uint32_t number; ///< of the task
    std::int32_t part;    ///< of the task
    std::int32_t length;  ///< places up to the last entry of the task; may lie beyond the piece
    bool ends;            ///< the task
    bool valid;           ///< else there is no more

    /// Whether any lane's place u * 32 + lane has an entry.
    [[nodiscard]] __device__ bool reaches(int u) const { return u * 32 < length; }
    /// Whether sums of a whole word come of it.
    [[nodiscard]] __device__ bool completes() const {
        return ends && part == streamed_task<Cut>::whole_word;
    }
    [[nodiscard]] __device__ std::uint32_t word(const spmspv::row_pieces& pieces) const {
        if constexpr (!Cut) return number;
        const auto count = static_cast<std::uint32_t>(pieces.count);
        return number >= count ? number - count
                               : static_cast<std::uint32_t>(pieces.list[number].word);
    }
};

/// The pieces of a warp's tasks, one after the other.
template <bool Cut>
class streamed_walk {
public:
    __device__ streamed_walk(const spmspv::row_pieces& pieces, const std::int32_t* offsets,
                             std::uint32_t rows)
        : pieces_(pieces),
          offsets_(offsets),
          rows_(rows),
          tasks_(rows / 32 + (rows % 32 != 0 ? 1 : 0) +
                 (Cut ? static_cast<std::uint32_t>(pieces.count) : 0)) {
        const std::uint32_t number = blockIdx.x * block_warps + threadIdx.x / 32;
        valid_ = number < tasks_;
        if (!valid_) return;
        behind_ = read(number);
        begin_task();
    }

    [[nodiscard]] __device__ streamed_piece<Cut> next() {
        streamed_piece<Cut> p;
        p.valid = valid_;
        p.base = place_;
        p.first = first_;
        p.last = last_;
        p.number = own_.number;
        p.part = own_.part;
        p.length = valid_ ? static_cast<std::int32_t>(last_ - place_) : 0;
        p.ends = last_ - place_ <= stream_entries;
        const std::uint32_t begin = max(own_.begin, place_);
        const std::uint32_t end = max(min(own_.end, place_ + stream_entries), begin);
        p.from = begin - place_;
        p.count = end - begin;
        if (!valid_) return p;
        if (!p.ends)
            place_ += stream_entries;
        else if (more())
            begin_task();
        else
            valid_ = false;
        return p;
    }

private:
    [[nodiscard]] __device__ static std::uint32_t stride() { return gridDim.x * block_warps; }
    [[nodiscard]] __device__ bool more() const { return tasks_ - own_.number > stride(); }
    [[nodiscard]] __device__ streamed_task<Cut> read(std::uint32_t task) const {
        return streamed_task<Cut>::read(pieces_, offsets_, rows_, task);
    }
    /// The one whose offsets are on their way.
    __device__ void begin_task() {
        constexpr std::uint32_t sector = 8;
        own_ = behind_;
        if (more()) behind_ = read(own_.number + stride());
        own_.clip();
        first_ = own_.first();
        last_ = own_.last();
        place_ = first_ / sector * sector;
    }

    const spmspv::row_pieces& pieces_;
    const std::int32_t* offsets_;
    std::uint32_t rows_;
    std::uint32_t tasks_;
    streamed_task<Cut> own_;
    streamed_task<Cut> behind_;
    std::uint32_t first_;
    std::uint32_t last_;
    std::uint32_t place_; ///< where the next piece begins
    bool valid_;
};

/// Columns of a piece's entries, and unless masked their values, on the way from memory.
template <class S, bool Masked>
struct streamed_entries {
    using T = typename S::value_type;
    std::int32_t column[stream_at_once]; ///< -1: none of the task's
    T value[stream_at_once];

    template <bool Cut>
    __device__ void start(const plain_arguments<S>& a, const row_terms<S, Masked>& terms,
                          const streamed_piece<Cut>& p) {
#pragma unroll
        for (int u = 0; u < stream_at_once; ++u) {
            column[u] = -1;
            if (!p.reaches(u)) continue;
            const std::uint32_t k =
                p.base + static_cast<std::uint32_t>(u) * 32 + (threadIdx.x & 31);
            const bool in = k >= p.first && k < p.last;
            if (in) column[u] = load_once(a.rows.indices + k);
            if constexpr (!Masked) value[u] = terms.matrix_value(in, k);
        }
    }
};

/// x, and if masked values of the matrix, of the entries whose columns have come.
template <class S, bool Masked>
struct streamed_operands {
    using T = typename S::value_type;
    std::uint32_t hits; ///< bit u: the lane's entry u has a term
    T matrix[stream_at_once];
    T vector[stream_at_once];
    std::int32_t column[stream_at_once];

    template <bool Cut>
    __device__ void start(const row_terms<S, Masked>& terms,
                          const streamed_entries<S, Masked>& entries,
                          const streamed_piece<Cut>& p) {
        hits = 0;
#pragma unroll
        for (int u = 0; u < stream_at_once; ++u) {
            if (!p.reaches(u)) continue;
            if constexpr (reads_columns<S>) column[u] = entries.column[u];
            if (terms.has(entries.column[u] >= 0, entries.column[u])) hits |= 1U << u;
        }
#pragma unroll
        for (int u = 0; u < stream_at_once; ++u) {
            if (!p.reaches(u)) continue;
            if constexpr (Masked)
                matrix[u] = terms.matrix_value(hit(u), p.base + static_cast<std::uint32_t>(u) * 32 +
                                                           (threadIdx.x & 31));
            else
                matrix[u] = entries.value[u];
            vector[u] = terms.vector_value(hit(u), entries.column[u]);
        }
    }
    [[nodiscard]] __device__ bool hit(int u) const {
        return (hits >> u & 1) != 0;
    }
    [[nodiscard]] __device__ T term(int u) const {
        std::int32_t of = 0;
        if constexpr (reads_columns<S>) of = column[u];
        return hit(u) ? S::term(matrix[u], vector[u], of) : S::absent();
    }
};

/// A warp's terms of a piece in shared memory; every 32 places one is left out, so that rows of
/// equal lengths that are powers of two don't meet in one bank.
template <class T>
struct streamed_terms {
    T term[stream_entries + stream_at_once];
    std::uint32_t marks[stream_at_once]; ///< which are terms (masked)
    std::uint32_t heads[stream_at_once]; ///< where rows begin

    [[nodiscard]] __device__ static std::uint32_t place(std::uint32_t k) { return k + k / 32; }

    template <class S, bool Masked, bool Cut>
    __device__ void put(const streamed_operands<S, Masked>& operands,
                        const streamed_piece<Cut>& p) {
        const std::uint32_t lane = threadIdx.x & 31;
#pragma unroll
        for (int u = 0; u < stream_at_once; ++u) {
            if constexpr (Masked) {
                const std::uint32_t mark = __ballot_sync(0xffffffffu, operands.hit(u));
                if (lane == static_cast<std::uint32_t>(u)) marks[u] = mark;
            }
            if (p.reaches(u))
                term[place(static_cast<std::uint32_t>(u) * 32 + lane)] = operands.term(u);
        }
        __syncwarp();
    }

    /// The sum of the lane's row, by the warp.
    template <class S, bool Cut>
    [[nodiscard]] __device__ T sum(const streamed_piece<Cut>& p) {
        T result = S::absent();
        if (!__any_sync(0xffffffffu, p.count > stream_own)) {
#pragma unroll 4
            for (std::uint32_t k = p.from; k < p.from + p.count; ++k)
                result = S::add(result, term[place(k)]);
            return result;
        }
        add_up_rows<S>(p);
        // At the last places of each 32 the sums of what a row has there.
        for (std::uint32_t k = p.from; k < p.from + p.count;) {
            const std::uint32_t behind = min(k / 32 * 32 + 32, p.from + p.count);
            result = S::add(result, term[place(behind - 1)]);
            k = behind;
        }
        return result;
    }

    /// Whether the lane's row has a term.
    template <bool Cut>
    [[nodiscard]] __device__ bool marked(const streamed_piece<Cut>& p) const {
        bool any = false;
        for (std::uint32_t k = p.from; k < p.from + p.count;) {
            const std::uint32_t behind = min(k / 32 * 32 + 32, p.from + p.count);
            any =
                any ||
                marks[k / 32] << (31 - (behind - 1) % 32) >> (k % 32 + 31 - (behind - 1) % 32) != 0;
            k = behind;
        }
        return any;
    }

private:
    /// By the warp: each place becomes the sum of its row's terms from the row's begin, or from the
    /// multiple of 32 before, if that is nearer.
    template <class S, bool Cut>
    __device__ void add_up_rows(const streamed_piece<Cut>& p) {
        const std::uint32_t lane = threadIdx.x & 31;
        if (lane < stream_at_once) heads[lane] = 0;
        __syncwarp();
        if (p.count != 0) atomicOr(heads + p.from / 32, 1U << p.from % 32);
        __syncwarp();
        const std::uint32_t up_to_me = 0xffffffffu >> (31 - lane);
#pragma unroll
        for (int u = 0; u < stream_at_once; ++u) {
            if (!p.reaches(u)) continue;
            T& mine = term[place(static_cast<std::uint32_t>(u) * 32 + lane)];
            const std::uint32_t before = heads[u] & up_to_me;
            const int reach = before != 0
                                  ? static_cast<int>(lane) - 31 + __clz(static_cast<int>(before))
                                  : static_cast<int>(lane);
            T total = mine;
#pragma unroll
            for (int by = 1; by < 32; by *= 2) {
                const T from = __shfl_up_sync(0xffffffffu, total, by);
                if (by <= reach) total = S::add(from, total);
            }
            mine = total;
        }
        __syncwarp();
    }
};

/// What becomes of sums: y. Others have the same members.
template <class S>
struct stored_sums : result_rows<S> {
    using T = typename S::value_type;
    static constexpr int blocks = sizeof(T) == 8 ? 2 : 3; ///< registers for what is under way

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
                                   const streamed_piece<true>& last, typename S::value_type& sum,
                                   bool& there) {
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

/// By all warps of the grid. While a piece is summed up, x of the next and columns of the one after
/// that are under way.
template <class S, bool Masked, bool Cut, class Results>
__device__ inline void stream_rows(const plain_arguments<S>& a,
                                   streamed_terms<typename S::value_type>& shared,
                                   Results& results) {
    using T = typename S::value_type;
    const row_terms<S, Masked> terms{a.rows.values, a.x.dense, a.x.bits};
    const std::uint32_t lane = threadIdx.x & 31;
    const auto rows = static_cast<std::uint32_t>(a.rows.lines);
    streamed_walk<Cut> walk(a.pieces, a.rows.offsets, rows);
    streamed_piece<Cut> now = walk.next();
    if (!now.valid) return;
    streamed_entries<S, Masked> entries;
    entries.start(a, terms, now);
    streamed_piece<Cut> next = walk.next();
    streamed_operands<S, Masked> operands;
    operands.start(terms, entries, now);
    entries.start(a, terms, next);
    T sum = S::absent();
    bool there = false;
    for (;;) {
        const std::uint32_t word = now.word(a.pieces);
        const std::uint32_t row = word * 32 + lane;
        typename Results::row_state state{};
        if (now.completes() && row < rows) state = results.read(row);
        shared.put(operands, now);
        const streamed_piece<Cut> after = walk.next();
        operands.start(terms, entries, next);
        entries.start(a, terms, after);

        sum = S::add(sum, shared.template sum<S>(now));
        if constexpr (Masked) there = there || shared.marked(now);
        __syncwarp();
        if (now.ends) {
            bool complete = now.completes();
            if constexpr (Cut) {
                if (now.part >= 0) {
                    complete = join_pieces<S, Masked>(a.pieces, now, sum, there);
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
            sum = S::absent();
            there = false;
        }
        if (!next.valid) return;
        now = next;
        next = after;
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
