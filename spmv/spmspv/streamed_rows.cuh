// y = A x by streaming (CSR-stream: Greathouse and Daga, SC 2014): a warp takes 32 rows, whose
// entries lie side by side. It reads them in whole lines, 256 at a time, puts their terms into
// shared memory, and there each lane sums up its row; a row that has more than 32 of the 256 is
// summed up by all lanes. So no length of rows leaves lanes without an entry, and a giant row
// stalls its warp only. While terms are summed up, the next entries are under way, across rows'
// ends.
//
// Bytes (fp32), m rows: spmv 8 nnz + 4 m + 4 m, and the gather of x, 4 to 32 an entry. row: 4 nnz +
// 4 m + 4 m + m / 8, x's bits from the caches, and 36 to 64 for each entry whose column x has (a
// sector of values, one of x). Semirings that read no values: 4 nnz less of spmv, a sector less of
// row. Rows that are skipped are read, too. One launch. Sums in the order of entries, the same each
// time.
#pragma once

#include <krylith/device/cuda_device.cuh>
#include <krylith/spmv/spmspv/product_launches.hpp>
#include <krylith/spmv/spmspv/row_terms.cuh>
#include <krylith/spmv/spmspv/semiring_result.cuh>

namespace krylith::cuda {

inline constexpr int stream_at_once = 8; ///< entries a lane
inline constexpr std::uint32_t stream_entries = 32 * stream_at_once;

/// Entries of a row in a piece that its lane sums up alone: as many as two words of marks show.
inline constexpr std::uint32_t stream_own = 32;

/// 32 rows, one word of bits of y.
struct streamed_rows {
    std::uint32_t begin; ///< of the lane's row
    std::uint32_t end;

    [[nodiscard]] __device__ static streamed_rows read(const std::int32_t* offsets,
                                                       std::uint32_t rows, std::uint32_t word) {
        const std::uint32_t row = min(word * 32 + (threadIdx.x & 31), rows);
        return {static_cast<std::uint32_t>(offsets[row]),
                static_cast<std::uint32_t>(offsets[min(row + 1, rows)])};
    }
    [[nodiscard]] __device__ std::uint32_t first() const {
        return __shfl_sync(0xffffffffu, begin, 0);
    }
    [[nodiscard]] __device__ std::uint32_t last() const {
        return __shfl_sync(0xffffffffu, end, 31);
    }
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

/// Registers for what is under way.
template <class T>
inline constexpr int stream_blocks = sizeof(T) == 8 ? 2 : 4;

template <class S, bool Masked>
__global__ void __launch_bounds__(block_threads, stream_blocks<typename S::value_type>)
    streamed_row_kernel(const __grid_constant__ plain_arguments<S> a) {
    using T = typename S::value_type;
    constexpr unsigned all = 0xffffffffu;
    __shared__ streamed_terms<T> terms_of_warps[block_warps];
    streamed_terms<T>& shared = terms_of_warps[threadIdx.x / 32];
    const row_terms<S, Masked> terms{a.rows.values, a.x.dense, a.x.bits};
    const result_rows<S> results{a.y.dense, a.alpha, a.beta, a.skip_rows};
    const std::uint32_t lane = threadIdx.x & 31;
    const auto rows = static_cast<std::uint32_t>(a.rows.lines);
    const std::uint32_t words = rows / 32 + (rows % 32 != 0 ? 1 : 0);
    const std::uint32_t stride = gridDim.x * block_warps;
    std::uint32_t word = blockIdx.x * block_warps + threadIdx.x / 32;
    if (word >= words) return;
    if (lane < 2) shared.marks[stream_at_once + lane] = 0;

    constexpr std::uint32_t sector = 8;
    streamed_rows own = streamed_rows::read(a.rows.offsets, rows, word);
    streamed_rows next = own; // of the word behind this one
    if (words - word > stride) next = streamed_rows::read(a.rows.offsets, rows, word + stride);
    std::uint32_t first = own.first();
    std::uint32_t last = own.last();
    std::uint32_t piece = first / sector * sector;
    streamed_entries<S, Masked> loads;
    loads.start(a, terms, piece, first, last);
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

        const bool word_ends = last - piece <= stream_entries;
        const std::uint32_t begin = max(own.begin, piece);
        const std::uint32_t end = max(min(own.end, piece + stream_entries), begin);
        const std::uint32_t from = begin - piece; // meaningless where the row has none of the piece
        const std::uint32_t count = end - begin;
        const std::uint32_t done = word;
        if (word_ends) {
            if (words - word > stride) {
                word += stride;
                own = next;
                first = own.first();
                last = own.last();
                piece = first / sector * sector;
                if (words - word > stride)
                    next = streamed_rows::read(a.rows.offsets, rows, word + stride);
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
        if (!word_ends) continue;
        const std::uint32_t row = done * 32 + lane;
        if (row < rows) results.row(row, sum);
        if constexpr (Masked) {
            std::uint32_t marks = __ballot_sync(all, there);
            if (a.skip_rows != nullptr) marks &= ~a.skip_rows[done];
            if (lane == 0) a.y.bits[done] = marks;
        }
        if (word == done) return;
        sum = S::absent();
        there = false;
    }
}

template <class S, bool Masked>
void multiply_streamed_rows(device& where, const plain_arguments<S>& a) {
    const launch_scope launch(where);
    const auto kernel = streamed_row_kernel<S, Masked>;
    const std::int64_t words = (std::int64_t{a.rows.lines} + 31) / 32;
    kernel<<<launch.blocks(kernel, block_threads, (words + block_warps - 1) / block_warps),
             block_threads, 0, launch.stream()>>>(a);
    launch.check_launch();
}

} // namespace krylith::cuda
