// y = A x where all terms of a row count: a group of 1 to 32 lanes adds up each row, some entries a
// lane at once, and the whole warp adds up the rest of a long row. A warp takes 32 rows, one word
// of bits of y, and each lane ends with the result of one row, so that offsets, y and bits are read
// and written in whole cache lines. In balanced products (`Cut`) no warp takes more than a chunk
// (row_chunks.hpp) at once; in others a giant row stalls its warp. Warps of a block always take
// words side by side: words drawn one by one from a counter shared no cache (web took 1.4 times as
// long).
//
// Where x comes from the caches, the bound is the number of instructions, 15 to 30 for 32 entries,
// and of cache lines that a load touches: hence few lanes a row, and values with their columns in
// loads of four. Streaming all entries through shared memory took 50 to 90 instructions.
//
// Bytes (fp32), m rows: spmv 8 nnz + 4 m + 4 m, and the gather of x, 4 to 32 an entry. row: 4 nnz +
// 4 m + 4 m + m / 8, x's bits from the caches, and 36 to 64 for each entry whose column x has (a
// sector of values, one of x). Semirings that read no values: 4 nnz less of spmv, a sector less of
// row. Rows that are skipped are read, too. A chunk writes 256 and reads them again. One launch.
// Sums have a fixed order, and so the same bits each time.
#pragma once

#include <type_traits>

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/spmspv/kernels/product_launches.hpp>
#include <krylith/spmspv/kernels/row_entries.cuh>
#include <krylith/spmspv/kernels/row_tasks.cuh>
#include <krylith/spmspv/kernels/row_terms.cuh>
#include <krylith/spmspv/kernels/semiring_result.cuh>

namespace krylith::cuda {

/// Takes the sums into y. Other types for results have the same members.
template <class S>
struct stored_sums : result_rows<S> {
    using T = typename S::value_type;

    /// Blocks of a multiprocessor. The shortest rows wait for memory and need more blocks; others
    /// depend on caches.
    static constexpr int blocks(int lanes, bool masked) {
        const int most = sizeof(T) == 8 ? 5 : 6;
        if (lanes == 1 && !masked) return most;
        return most - (S::reads_matrix ? 2 : 1);
    }

    struct row_state {}; ///< read while the row's terms are in flight
    [[nodiscard]] __device__ row_state read(std::int64_t) const { return {}; }
    /// Takes the sum of one row from each lane; the warp calls it.
    __device__ void word(bool valid, std::int64_t row, T sum, const row_state&) const {
        if (valid) result_rows<S>::row(row, sum);
    }
};

/// The rows of a task, which groups of lanes add up, several at once, in rounds of some entries a
/// lane.
template <class S, bool Masked, int Lanes>
class row_groups {
    using T = typename S::value_type;
    using assignment = spmspv::rows_of_warp<Lanes>;
    static constexpr unsigned all = 0xffffffffu;
    static constexpr int at_once = Lanes == 1 ? 1 : 2;
    static constexpr int count = Lanes == 1 ? 8 : 4;
    static constexpr int quad = by_quads<S, Masked> ? 4 : 1;

public:
    __device__ row_groups(const row_arrays<S>& a, const row_terms<S, Masked>& terms)
        : a_(a), terms_(terms) {}

    /// Adds up rows [begin, end), one for each lane; the warp calls it. `there` says whether the
    /// row has a term.
    __device__ void add_up(std::uint32_t begin, std::uint32_t end, T& sum, bool& there) const {
        const int lane = static_cast<int>(threadIdx.x & 31);
        constexpr unsigned lowest = Lanes == 32 ? all : (1u << (Lanes % 32)) - 1;
#pragma unroll 1
        for (int step = 0; step < Lanes; step += at_once) {
            row_part rows[at_once];
#pragma unroll
            for (int u = 0; u < at_once; ++u) {
                const int source = assignment::row(step + u, lane);
                rows[u].first = __shfl_sync(all, begin, source);
                rows[u].stop = __shfl_sync(all, end, source);
                rows[u].next = rows[u].first / quad * quad + lane % Lanes * quad;
            }
            while (take_round(rows) > few) {
            }
#pragma unroll
            for (int u = 0; u < at_once; ++u) {
                row_part& row = rows[u];
                for (unsigned left = unfinished(row); left != 0; left &= left - 1)
                    add_rest(row, __ffs(static_cast<int>(left)) - 1);
                row.sum = warp_reduce<Lanes>(row.sum, add);
                const T result = __shfl_sync(all, row.sum, assignment::lane_of(lane));
                const unsigned hits = Masked ? __ballot_sync(all, row.there) : 0;
                if (assignment::step_of(lane) != step + u) continue;
                sum = result;
                there = (hits >> assignment::lane_of(lane) & lowest) != 0;
            }
        }
    }

private:
    /// With at most so many rows left the whole warp adds up the rest of each, one by one.
    static constexpr int few = 2;

    [[nodiscard]] __device__ static T add(T a, T b) {
        return S::add(a, b);
    }

    /// The entries of a row that a lane has, and their sum.
    struct row_part {
        std::uint32_t first;
        std::uint32_t next; ///< the lane's next entry
        std::uint32_t stop;
        T sum = S::absent();
        bool there = false;
    };

    /// The leaders of groups whose row has entries left.
    [[nodiscard]] __device__ static unsigned unfinished(const row_part& row) {
        return __ballot_sync(all, row.next < row.stop && threadIdx.x % Lanes == 0);
    }

    /// Takes a round, and returns how many rows have entries left.
    __device__ int take_round(row_part (&rows)[at_once]) const {
        row_entries<S, Masked, count> entry[at_once];
#pragma unroll
        for (int u = 0; u < at_once; ++u)
            entry[u].start(a_, terms_, rows[u].next, Lanes, rows[u].first, rows[u].stop);
#pragma unroll
        for (int u = 0; u < at_once; ++u) entry[u].look(terms_, rows[u].next, Lanes);
        int left = 0;
#pragma unroll
        for (int u = 0; u < at_once; ++u) {
            entry[u].add_to(rows[u].sum, rows[u].there);
            rows[u].next += count * Lanes;
            left += __popc(unfinished(rows[u]));
        }
        return left;
    }

    /// Adds the rest of the row of the group of lane `leader` to the sum of that lane; the whole
    /// warp calls it.
    __device__ void add_rest(row_part& row, int leader) const {
        constexpr int at_once_here = 4;
        const std::uint32_t lane = threadIdx.x & 31;
        const std::uint32_t first = __shfl_sync(all, row.next, leader);
        const std::uint32_t stop = __shfl_sync(all, row.stop, leader);
        T rest = S::absent();
        bool found = false;
        for (std::uint32_t k = first + lane * quad; k < stop; k += at_once_here * 32) {
            row_entries<S, Masked, at_once_here> entry;
            entry.start(a_, terms_, k, 32, first, stop);
            entry.look(terms_, k, 32);
            entry.add_to(rest, found);
        }
        rest = warp_reduce(rest, add);
        if constexpr (Masked) found = __any_sync(all, found);
        if (lane != static_cast<std::uint32_t>(leader)) return;
        row.sum = S::add(row.sum, rest);
        row.there = row.there || found;
    }

    const row_arrays<S>& a_;
    const row_terms<S, Masked>& terms_;
};

/// Multiplies all tasks; all warps of the grid call it.
template <class S, bool Masked, bool Cut, int Lanes, class Results>
__device__ inline void add_up_rows(const plain_arguments<S>& a, const Results& results) {
    using T = typename S::value_type;
    using task_type = row_task<Cut>;
    const row_terms<S, Masked> terms{a.rows.values, a.x.dense, a.x.bits};
    const row_arrays<S> arrays{a.rows.indices, a.rows.values,
                               static_cast<std::uint32_t>(a.rows.nonzeros)};
    const row_groups<S, Masked, Lanes> groups(arrays, terms);
    const std::uint32_t lane = threadIdx.x & 31;
    const auto rows = static_cast<std::uint32_t>(a.rows.major_size);
    const std::uint32_t tasks = rows / 32 + (rows % 32 != 0 ? 1 : 0) +
                                (Cut ? static_cast<std::uint32_t>(a.chunks.count) : 0);
    const std::uint32_t stride = gridDim.x * block_warps;
    const std::uint32_t number = blockIdx.x * block_warps + threadIdx.x / 32;
    if (number >= tasks) return;
    task_type behind = task_type::read(a.chunks, a.rows.offsets, rows, number);
    for (;;) {
        task_type own = behind;
        const bool more = tasks - own.number > stride;
        if (more) behind = task_type::read(a.chunks, a.rows.offsets, rows, own.number + stride);
        own.clip();
        const std::uint32_t word = own.word(a.chunks);
        const std::uint32_t row = word * 32 + lane;
        bool complete = own.part == task_type::whole_word;
        typename Results::row_state state{};
        if (complete && row < rows) state = results.read(row);
        T sum = S::absent();
        bool there = false;
        groups.add_up(own.begin, own.end, sum, there);
        if constexpr (Cut) {
            if (own.part >= 0) {
                complete = join_ranges<S, Masked>(a.chunks, own, sum, there);
                if (complete && row < rows) state = results.read(row);
            }
        }
        if (complete) {
            results.word(row < rows, row, sum, state);
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
__global__ void __launch_bounds__(block_threads, Results::blocks(Lanes, Masked))
    grouped_row_kernel(const __grid_constant__ plain_arguments<S> a,
                       const __grid_constant__ Results results) {
    add_up_rows<S, Masked, Cut, Lanes>(a, results);
}

template <class S, bool Masked, bool Cut, int Lanes, class Results>
void launch_grouped_rows(const Results& results, device& device, const plain_arguments<S>& a) {
    const launch_scope launch(device);
    const auto kernel = grouped_row_kernel<S, Masked, Cut, Lanes, Results>;
    const std::int64_t tasks =
        (std::int64_t{a.rows.major_size} + 31) / 32 + (Cut ? a.chunks.count : 0);
    const unsigned blocks =
        launch.blocks(kernel, block_threads, (tasks + block_warps - 1) / block_warps);
    kernel<<<blocks, block_threads, 0, launch.stream()>>>(a, results);
    launch.check_launch();
}

/// Enqueues results.word(valid, row, sum, state) for each 32 rows by a warp, where the state of a
/// valid row was results.read(row). The warp differs from run to run.
template <class S, bool Masked, bool Cut, class Results>
void multiply_rows_into(const Results& results, device& device, const plain_arguments<S>& a) {
    const auto launch = [&]<int Lanes>(std::integral_constant<int, Lanes>) {
        launch_grouped_rows<S, Masked, Cut, Lanes>(results, device, a);
    };
    // A mean row takes one round by fours, at any place of a quad where it begins, and one or two
    // otherwise.
    const std::int64_t rows = a.rows.major_size;
    const std::int64_t nonzeros = a.rows.nonzeros;
    switch (by_quads<S, Masked> ? spmspv::lanes_a_major(rows, (nonzeros + 3 * rows) / 4)
                                : spmspv::lanes_a_major(rows, nonzeros / 6)) {
    case 1: return launch(std::integral_constant<int, 1>());
    case 2: return launch(std::integral_constant < int, by_quads<S, Masked> ? 1 : 2 > ());
    case 4: return launch(std::integral_constant<int, 4>());
    case 8: return launch(std::integral_constant<int, 8>());
    default: return launch(std::integral_constant<int, 32>());
    }
}

template <class S, bool Masked, bool Cut>
void multiply_grouped_rows(device& device, const plain_arguments<S>& a) {
    const stored_sums<S> sums{{a.y.dense, a.alpha, a.beta, a.skip_rows}};
    multiply_rows_into<S, Masked, Cut>(sums, device, a);
}

} // namespace krylith::cuda
