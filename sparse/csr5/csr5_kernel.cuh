// The product kernel of CSR5.
#pragma once

#include <cstdint>

#include <krylith/sparse/csr5/csr5_tiles.cuh>
#include <krylith/sparse/epilogue/launch_rows.cuh>

namespace krylith::cuda {

static_assert(csr5_parts == block_warps);

/// Blocks of a multiprocessor: the loads of a tile need registers.
template <class T, int Sigma>
inline constexpr int csr5_blocks = Sigma <= 8 ? 4 : 2;

/// Chunks go to blocks in turn. `Sigma` entries of each lane are loaded and multiplied at once.
template <class T, int Sigma, int Dots, bool Shared>
__global__ void __launch_bounds__(block_threads, (csr5_blocks<T, Sigma>))
    csr5_kernel(const __grid_constant__ compact_context parameter,
                const __grid_constant__ spmv_operands<T> a,
                const __grid_constant__ csr5_view<T> m) {
    __shared__ context_state state;
    __shared__ csr5_shared<T, Sigma> s;
    const auto warp = static_cast<std::int32_t>(threadIdx.x / 32);
    const auto chunk_at = [&](std::int32_t turn) {
        return m.order != nullptr ? m.order[turn] : turn;
    };
    const auto first_tile = [&](std::int32_t turn) { // of this warp's part, or -1
        if (turn >= m.division.chunks) return -1;
        const std::int64_t tile =
            (std::int64_t{chunk_at(turn)} * csr5_parts + warp) * m.division.part_tiles;
        return tile < m.division.tiles ? static_cast<std::int32_t>(tile) : -1;
    };
    auto turn = static_cast<std::int32_t>(blockIdx.x);
    std::int32_t tile = first_tile(turn);
    csr5_loads<T, Sigma> loads;
    if (!product_prologue<Shared>(parameter, state, a, [&] { loads.start(m, tile); })) return;
    row_epilogue<T, Dots, Shared> results(state.context, a);
    while (turn < m.division.chunks) {
        const std::int32_t chunk = chunk_at(turn);
        results.before_reading(turn >= m.interior);
        results.before_writing();
        turn += static_cast<std::int32_t>(gridDim.x);
        const std::int32_t next_tile = first_tile(turn);
        const std::int32_t end =
            tile < 0 ? tile : min(m.division.tiles - tile, m.division.part_tiles) + tile;
        multiply_part(m, a.x, loads, tile, end, next_tile, s, results);
        if (tile < 0) loads.start(m, next_tile);
        tile = next_tile;
        const std::int64_t last_empty =
            empty_rows_before(m.empty_count, std::int64_t{chunk} + 1, m.division.chunks);
        for (std::int64_t k =
                 empty_rows_before(m.empty_count, chunk, m.division.chunks) + threadIdx.x;
             k < last_empty; k += block_threads)
            results.row(m.empty_rows[k], T(0));
        __syncthreads();
        if (warp == 0) join_parts(s.parts, m.edges, chunk, results);
        __syncthreads();
    }
    results.leave(m.division.chunks > 1, [&] {
        join_chunks<dense_terms<T>>(m.edges, m.division.chunks, s.carry, results);
    });
}

} // namespace krylith::cuda
