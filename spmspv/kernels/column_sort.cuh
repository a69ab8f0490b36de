// Column kernels that write their terms in the order of x, sort them by row (stably), and sum them
// up: without atomics, and with the same bits every time.
//
// Bytes for a term of s bytes: 4 + s of A read, 4 + s written, 4 + s twice for each 8 bits of the
// rows' numbers, and what sorted_sums.cuh says. Launches: scan 1 or 2, terms, sort 1 (up to some
// thousand terms) or 2 and one for each 8 bits, with as many memsets, sums 1 or 2; 2 to 4 us each
// where there is little to do.
#pragma once

#include <bit>

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/spmspv/kernels/column_tiles.cuh>
#include <krylith/spmspv/kernels/dense_start.cuh>
#include <krylith/spmspv/kernels/sorted_sums.cuh>

namespace krylith::cuda {

/// Writes terms. Rows that are skipped get one number behind all others, and so do the places
/// between the terms that exist and those that the host expects.
template <class S>
struct term_sink {
    using T = typename S::value_type;
    std::uint32_t* rows;
    T* values;
    std::uint32_t count; ///< terms that the host expects: no fewer than exist
    std::uint32_t none;
    const std::uint32_t* skip_rows;

    __device__ void take(const bool (&there)[terms_at_once],
                         const std::uint32_t (&place)[terms_at_once],
                         const std::int32_t (&row)[terms_at_once],
                         const T (&term)[terms_at_once]) const {
#pragma unroll
        for (int u = 0; u < terms_at_once; ++u) {
            if (!there[u] || place[u] >= count) continue;
            auto key = static_cast<std::uint32_t>(row[u]);
            if (skip_rows != nullptr && spmspv::has_bit(skip_rows, key)) key = none;
            rows[place[u]] = key;
            values[place[u]] = term[u];
        }
    }
    __device__ void finish() const {}
    /// Fills the places behind the terms; the whole grid calls it.
    __device__ void fill(std::uint32_t terms) const {
        if (terms >= count) return;
        const std::uint32_t stride = gridDim.x * block_threads;
        for (std::uint32_t k = blockIdx.x * block_threads + threadIdx.x; k < count - terms;
             k += stride)
            rows[terms + k] = none;
    }
};

template <class S, bool Balanced>
__global__ void __launch_bounds__(block_threads, 4)
    term_kernel(const __grid_constant__ scatter_operands<S> a, term_sink<S> sink,
                std::uint32_t lanes) {
    if constexpr (Balanced) {
        __shared__ tile_shared<typename S::value_type> s;
        for_terms_balanced(a, s, sink);
    } else {
        for_terms_direct(a, lanes, sink);
    }
    sink.fill(a.place_of(static_cast<std::uint32_t>(*a.count)));
}

template <class S, bool Balanced>
void multiply_columns_sort(device& device, const plain_arguments<S>& a) {
    using T = typename S::value_type;
    const auto scratch = column_scratch<T>::in(
        a.scratch, Balanced ? spmspv::kernel::column_balanced_sort : spmspv::kernel::column_sort,
        a.entries, a.frontier_nonzeros);
    if (!a.pairs) prepare_dense<S>(device, a);
    int sorted = 0;
    if (a.frontier_nonzeros != 0) {
        scan_columns(device,
                     {a.columns.offsets,
                      a.x.indices,
                      a.x.count,
                      scratch.ends,
                      scratch.starts,
                      {scratch.finished, nullptr}},
                     a.entries, scratch.scan);
        const auto rows = static_cast<std::uint32_t>(a.rows.major_size);
        // alpha is 1 here: it scales the sums at the end.
        const scatter_operands<S> operands{a.columns.offsets,
                                           a.columns.indices,
                                           a.columns.values,
                                           a.x.indices,
                                           a.x.values,
                                           a.x.count,
                                           T(1),
                                           scratch.ends,
                                           scratch.starts};
        const term_sink<S> sink{scratch.terms.keys[0], static_cast<T*>(scratch.terms.values[0]),
                                static_cast<std::uint32_t>(a.frontier_nonzeros), rows, a.skip_rows};
        {
            const launch_scope launch(device);
            const auto kernel = term_kernel<S, Balanced>;
            const column_grid size = column_grid_of(a, Balanced);
            kernel<<<launch.blocks(kernel, block_threads, size.blocks), block_threads, 0,
                     launch.stream()>>>(operands, sink, size.lanes);
            launch.check_launch();
        }
        const int bits = static_cast<int>(std::bit_width(rows)); // `none` is among the keys
        sorted =
            sort_pairs(device, scratch.terms, a.frontier_nonzeros, sizeof(T), bits, scratch.sort);
    }
    if (a.pairs)
        launch_sums<S, true>(device, a, scratch, sorted);
    else
        launch_sums<S, false>(device, a, scratch, sorted);
}

} // namespace krylith::cuda
