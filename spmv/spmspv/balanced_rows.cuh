// y = A x by merge path (spmv/merge_tile.cuh): rows and nonzeros are dealt equally, so that no row
// stalls a block.
//
// Bytes (fp32), m rows: 8 nnz + 4 m + 4 m and the gather of x; with bits of x 4 nnz + 4 m + 4 m +
// m / 8, x's bits from the caches, and 36 to 64 for each entry whose column x has: its value and x
// are read after its bit; less the values where the semiring reads none. Rows that are skipped cost
// as much as others. One launch, with bits of x a memset before it. Loads of a tile are in flight
// while the one before is summed up.
#pragma once

#include <krylith/device/cuda_device.cuh>
#include <krylith/spmv/merge_scratch.hpp>
#include <krylith/spmv/spmspv/masked_terms.cuh>
#include <krylith/spmv/spmspv/product_launches.hpp>
#include <krylith/spmv/spmspv/semiring_result.cuh>

namespace krylith::cuda {

template <class S>
struct balanced_result_rows : result_rows<S> {
    __device__ void before_reading(const merge_step&) const {}
};

template <class S, bool Masked>
__global__ void __launch_bounds__(block_threads, 4)
    balanced_row_kernel(const __grid_constant__ merge_view<typename S::value_type, std::int32_t> m,
                        const __grid_constant__ plain_arguments<S> a, unsigned* finished) {
    using T = typename S::value_type;
    using terms_of = merge_terms<S, Masked>;
    __shared__ merge_shared<T> s;
    __shared__ tile_marks marks;
    merge_walk walk;
    const merge_step first = walk.next(m);
    merge_loads<T, std::int32_t> loads;
    loads.template start<terms_of::loads_values>(m, first);
    const balanced_result_rows<S> rows{{a.y.dense, a.alpha, a.beta, a.skip_rows}};
    terms_of terms{{a.rows.values, a.x.dense, a.x.bits}, &marks, a.y.bits, a.skip_rows};
    multiply_chunks(m, terms, s, walk, first, loads, rows);
    if (m.chunks < 2 || !last_block(finished)) return;
    if (threadIdx.x == 0) *finished = 0;
    join_chunks<terms_of>(m.edges, m.chunks, s.carry, rows);
}

template <class S, bool Masked>
void multiply_rows_balanced(device& where, const plain_arguments<S>& a) {
    using T = typename S::value_type;
    if (a.rows.lines == 0) return;
    if (Masked) where.zero(a.y.bits, static_cast<std::size_t>(a.y.words()) * sizeof(std::uint32_t));
    // Made for double, whatever T is: edges take no more.
    const auto parts = merge_scratch<double>::in(a.row_scratch, a.rows.lines, a.rows.nonzeros);
    const chunk_edges<T> edges{reinterpret_cast<T*>(parts.edges.heads),
                               reinterpret_cast<T*>(parts.edges.carries), parts.edges.rows};
    const launch_scope launch(where);
    const auto kernel = balanced_row_kernel<S, Masked>;
    const merge_division path = divide_merge_path(
        a.rows.lines, a.rows.nonzeros, launch.blocks(kernel, block_threads, most_merge_chunks));
    const merge_view<T, std::int32_t> view{
        a.rows.offsets,  a.rows.indices, a.rows.values, path.items,
        parts.tile_rows, nullptr,        path.tiles,    path.tiles_per_chunk,
        path.chunks,     path.chunks,    edges};
    kernel<<<launch.blocks(kernel, block_threads, path.chunks), block_threads, 0,
             launch.stream()>>>(view, a, parts.finished);
    launch.check_launch();
}

} // namespace krylith::cuda
