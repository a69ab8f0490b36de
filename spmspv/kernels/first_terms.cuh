// y = A x where the first term of a row suffices (or_and, min_column): a group of 2 to 32 lanes, by
// the mean length of rows, searches each row until one lane finds a term. A warp takes 32 rows, one
// word of bits of y, and each lane ends with the result of one row, so that offsets, y and bits are
// read and written in whole cache lines. Up to 4 rows of a group are in flight at once; a giant row
// without terms stalls its warp.
//
// Bytes (fp32), m rows: 4 nnz + 4 m + 4 m, for row m / 8 more, and the gather of x, 4 to 32 an
// entry (its bits from the caches). Entries behind the first term are not read, nor any of rows
// that are skipped. One launch; trips to memory: offsets, columns, x or its bits, y. It takes about
// 3 us where there is little to do.
#pragma once

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/spmspv/kernels/product_launches.hpp>
#include <krylith/spmspv/kernels/row_terms.cuh>
#include <krylith/spmspv/kernels/semiring_result.cuh>

namespace krylith::cuda {

/// Blocks of a multiprocessor: 40 or 48 registers a thread. Without the bound the compiler takes 32
/// and spills.
template <class T>
inline constexpr int first_term_blocks = sizeof(T) == 8 ? 5 : 6;

template <class S, bool Masked, int Lanes>
__global__ void __launch_bounds__(block_threads, first_term_blocks<typename S::value_type>)
    first_term_kernel(const __grid_constant__ plain_arguments<S> a) {
    static_assert(S::first_suffices);
    using T = typename S::value_type;
    using assignment = spmspv::rows_of_warp<Lanes>;
    constexpr unsigned all = 0xffffffffu;
    constexpr int at_once = Lanes < 4 ? Lanes : 4;
    const row_terms<S, Masked> terms{a.rows.values, a.x.dense, a.x.bits};
    const result_rows<S> results{a.y.dense, a.alpha, a.beta, nullptr};
    const int lane = static_cast<int>(threadIdx.x & 31);
    constexpr unsigned lowest = Lanes == 32 ? all : (1u << (Lanes % 32)) - 1;
    const unsigned group = lowest << (lane & ~(Lanes - 1));
    const auto rows = static_cast<std::uint32_t>(a.rows.major_size);
    const std::uint32_t words = rows / 32 + (rows % 32 != 0 ? 1 : 0);
    const std::uint32_t stride = gridDim.x * block_warps;
    for (std::uint32_t word = blockIdx.x * block_warps + threadIdx.x / 32; word < words;
         word += stride) {
        const std::uint32_t row = word * 32 + static_cast<std::uint32_t>(lane);
        const std::uint32_t skipped = a.skip_rows != nullptr ? a.skip_rows[word] : 0;
        // Numbers are unsigned: places may go up to 128 beyond the last of 2^31 - 1 entries.
        std::uint32_t begin = 0;
        std::uint32_t end = 0;
        if (row < rows && (skipped >> lane & 1) == 0) {
            begin = static_cast<std::uint32_t>(a.rows.offsets[row]);
            end = static_cast<std::uint32_t>(a.rows.offsets[row + 1]);
        }
        T mine = S::absent();
        bool mine_there = false;
#pragma unroll 1
        for (int first = 0; first < Lanes; first += at_once) {
            std::uint32_t k[at_once];
            std::uint32_t stop[at_once];
            std::int32_t column[at_once];
            bool hit[at_once];
            T entry[at_once];
            T sum[at_once];
#pragma unroll
            for (int u = 0; u < at_once; ++u) {
                const int source = assignment::row(first + u, lane);
                k[u] = __shfl_sync(all, begin, source) + static_cast<unsigned>(lane % Lanes);
                stop[u] = __shfl_sync(all, end, source);
                column[u] = k[u] < stop[u] ? load_once(a.rows.indices + k[u]) : 0;
                if constexpr (!Masked) entry[u] = terms.matrix_value(k[u] < stop[u], k[u]);
            }
#pragma unroll
            for (int u = 0; u < at_once; ++u) hit[u] = terms.has(k[u] < stop[u], column[u]);
#pragma unroll
            for (int u = 0; u < at_once; ++u) {
                if constexpr (Masked) entry[u] = terms.matrix_value(hit[u], k[u]);
                sum[u] = terms.vector_value(hit[u], column[u]);
            }
#pragma unroll
            for (int u = 0; u < at_once; ++u)
                sum[u] = hit[u] ? S::term(entry[u], sum[u], column[u]) : S::absent();
#pragma unroll
            for (int u = 0; u < at_once; ++u) {
                // Columns ascend: the first entries with a term have the least of them.
                for (;;) {
                    const bool found = (__ballot_sync(all, hit[u]) & group) != 0;
                    const bool more = !found && k[u] < stop[u] && stop[u] - k[u] > Lanes;
                    if (!__any_sync(all, more)) break;
                    if (!more) continue;
                    k[u] += Lanes;
                    const std::int32_t at = load_once(a.rows.indices + k[u]);
                    hit[u] = terms.has(true, at);
                    if (hit[u]) sum[u] = terms.term(k[u], at);
                }
                const std::uint32_t hits = __ballot_sync(all, hit[u]);
                sum[u] = warp_reduce<Lanes>(sum[u], [](T a, T b) { return S::add(a, b); });
                const T result = __shfl_sync(all, sum[u], assignment::lane_of(lane));
                if (assignment::step_of(lane) == first + u) {
                    mine = result;
                    mine_there = (hits >> assignment::lane_of(lane) & lowest) != 0;
                }
            }
        }
        if (row < rows) {
            if (skipped >> lane & 1)
                a.y.dense[row] = S::absent();
            else
                results.row(row, mine);
        }
        if constexpr (Masked) {
            const std::uint32_t there = __ballot_sync(all, mine_there);
            if (lane == 0) a.y.bits[word] = there;
        }
    }
}

template <class S, bool Masked, int Lanes>
void launch_first_terms(device& device, const plain_arguments<S>& a) {
    const launch_scope launch(device);
    const auto kernel = first_term_kernel<S, Masked, Lanes>;
    const std::int64_t words = (std::int64_t{a.rows.major_size} + 31) / 32;
    kernel<<<launch.blocks(kernel, block_threads, (words + block_warps - 1) / block_warps),
             block_threads, 0, launch.stream()>>>(a);
    launch.check_launch();
}

template <class S, bool Masked>
void multiply_by_first_terms(device& device, const plain_arguments<S>& a) {
    // Lanes take a quarter of the mean row at once: where many entries have terms, one of these
    // does, and where few have, more rows are in flight.
    switch (spmspv::lanes_a_major(a.rows.major_size, a.rows.nonzeros / 4)) {
    case 1:
    case 2: return launch_first_terms<S, Masked, 2>(device, a);
    case 4: return launch_first_terms<S, Masked, 4>(device, a);
    case 8: return launch_first_terms<S, Masked, 8>(device, a);
    case 16: return launch_first_terms<S, Masked, 16>(device, a);
    default: return launch_first_terms<S, Masked, 32>(device, a);
    }
}

} // namespace krylith::cuda
