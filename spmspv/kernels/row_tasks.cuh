// The tasks of warps among the rows, and the sums of the chunks of a long word.
#pragma once

#include <cstdint>

#include <krylith/spmspv/csr_csc_pair/row_chunks.hpp>
#include <krylith/vector/execution/kernel_context_cuda.cuh>

namespace krylith::cuda {

/// A task of a warp: 32 rows (one word of bits of y), or a chunk of a long word.
template <bool Cut>
struct row_task {
    std::uint32_t number; ///< chunks come first, then words
    std::uint32_t begin;  ///< entries of the lane's row: after clip() those of the task
    std::uint32_t end;
    std::int32_t part; ///< that of a chunk; else one of these:
    static constexpr std::int32_t whole_word = -1;
    static constexpr std::int32_t nothing = -2; ///< a long word, whose chunks others take

    /// Reads a task. Nothing waits for these loads before clip().
    [[nodiscard]] __device__ static row_task read(const spmspv::row_chunks& chunks,
                                                  const std::int32_t* offsets, std::uint32_t rows,
                                                  std::uint32_t task) {
        row_task t{task, 0, 0, whole_word};
        std::uint32_t word = task;
        if constexpr (Cut) {
            const auto count = static_cast<std::uint32_t>(chunks.count);
            if (task < count) {
                const spmspv::row_chunk chunk = chunks.list[task];
                word = static_cast<std::uint32_t>(chunk.word);
                t.part = chunk.part;
            } else {
                word = task - count;
            }
        }
        const std::uint32_t row = min(word * 32 + (threadIdx.x & 31), rows);
        t.begin = static_cast<std::uint32_t>(offsets[row]);
        t.end = static_cast<std::uint32_t>(offsets[min(row + 1, rows)]);
        return t;
    }
    [[nodiscard]] __device__ std::uint32_t word(const spmspv::row_chunks& chunks) const {
        if constexpr (!Cut) return number;
        const auto count = static_cast<std::uint32_t>(chunks.count);
        return number >= count ? number - count
                               : static_cast<std::uint32_t>(chunks.list[number].word);
    }
    [[nodiscard]] __device__ std::uint32_t first() const {
        return __shfl_sync(0xffffffffu, begin, 0);
    }
    [[nodiscard]] __device__ std::uint32_t last() const {
        return __shfl_sync(0xffffffffu, end, 31);
    }
    /// Cuts the rows to the chunk, or to nothing; the warp calls it.
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
                const std::uint32_t each = spmspv::chunk_entries(entries);
                low += static_cast<std::uint32_t>(part) * each;
                high += min((static_cast<std::uint32_t>(part) + 1) * each, entries);
            }
            begin = min(max(begin, low), high);
            end = min(max(end, low), high);
        }
    }
};

/// Ends a chunk; the warp calls it. Returns true, with the sums of the word, if it was the last of
/// its chunks.
template <class S, bool Masked>
__device__ inline bool join_ranges(const spmspv::row_chunks& chunks, const row_task<true>& last,
                                   typename S::value_type& sum, bool& there) {
    using T = typename S::value_type;
    constexpr unsigned all = 0xffffffffu;
    const std::uint32_t lane = threadIdx.x & 31;
    const std::uint32_t at = last.number;
    auto* const sums = static_cast<T*>(chunks.sums);
    sums[at * 32 + lane] = sum;
    const std::uint32_t marks = __ballot_sync(all, there);
    const std::uint32_t first = at - static_cast<std::uint32_t>(last.part);
    const auto parts = static_cast<std::uint32_t>(chunks.list[at].parts);
    __syncwarp();
    unsigned before = 0;
    if (lane == 0) {
        if constexpr (Masked) chunks.marks[at] = marks;
        before = add_acq_rel(chunks.arrived + first, 1);
    }
    before = __shfl_sync(all, before, 0);
    if (before + 1 != parts) return false;
    __syncwarp();
    if (lane == 0) chunks.arrived[first] = 0;
    sum = S::absent();
    there = false;
    // These loads bypass the L1 cache: other multiprocessors wrote the sums.
#pragma unroll 8
    for (std::uint32_t p = first; p < first + parts; ++p) {
        sum = S::add(sum, __ldcg(sums + p * 32 + lane));
        if constexpr (Masked) there = there || (__ldcg(chunks.marks + p) >> lane & 1) != 0;
    }
    return true;
}

} // namespace krylith::cuda
