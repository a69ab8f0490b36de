// The tiles of a matrix in the order in which blocks of threads multiply them by merge path: which
// tile comes next, and loading its entries while the tile before is multiplied.
#pragma once

#include <cstdint>

#include <krylith/sparse/merge/merge_path.hpp>
#include <krylith/sparse/merge/merge_scratch.hpp>
#include <krylith/sparse/storage/load_once.cuh>
#include <krylith/vector/execution/kernel_context_cuda.cuh>

namespace krylith::cuda {

template <class T, class Offset>
struct merge_view {
    const Offset* offsets; ///< rows + 1, the first is 0
    const std::int32_t* columns;
    const T* values;
    std::int64_t items;            ///< rows + nonzeros
    const std::int32_t* tile_rows; ///< [tiles + 1] rows that end before the tile
    const std::int32_t* order;     ///< the order of chunks, or null
    std::int32_t tiles;
    std::int32_t tiles_per_chunk;
    std::int32_t chunks;
    std::int32_t interior; ///< chunks in this order before the first of the boundary
    chunk_edges<T> edges;

    [[nodiscard]] __device__ std::int32_t chunk_of(std::int32_t tile) const {
        return tile / tiles_per_chunk;
    }
};

struct merge_step {
    std::int32_t tile; ///< -1: none is left
    std::int32_t row;  ///< the row that is open where the tile begins
    std::int32_t end_row;
    bool opens;    ///< it is the first tile of a chunk
    bool closes;   ///< it is the last tile of a chunk
    bool boundary; ///< its chunk is of the boundary
};

/// The tiles of a block: all of a chunk, then those of the chunk that is a grid further on.
class merge_chunks {
public:
    __device__ merge_chunks()
        : trip_(static_cast<std::int32_t>(blockIdx.x) - static_cast<std::int32_t>(gridDim.x)) {}

    template <class View>
    [[nodiscard]] __device__ merge_step next(const View& m) {
        const bool opens = tile_ == end_;
        if (opens) {
            if (trip_ >= m.chunks) return {-1, 0, 0, false, false, false};
            trip_ += static_cast<std::int32_t>(gridDim.x);
            if (trip_ >= m.chunks) return {-1, 0, 0, false, false, false};
            const std::int32_t chunk = m.order != nullptr ? m.order[trip_] : trip_;
            tile_ = chunk * m.tiles_per_chunk;
            end_ = min(tile_ + m.tiles_per_chunk, m.tiles);
        }
        const std::int32_t tile = tile_++;
        return {tile,  m.tile_rows[tile], m.tile_rows[tile + 1],
                opens, tile_ == end_,     trip_ >= m.interior};
    }

private:
    std::int32_t trip_;
    std::int32_t tile_ = 0;
    std::int32_t end_ = 0;
};

/// The entries of a tile that a thread loads, and the end of one row, in flight from memory.
template <class T, class Offset>
struct merge_loads {
    static constexpr int in_flight = merge_tile_items / block_threads;
    std::int32_t column[in_flight];
    T value[in_flight];
    Offset row_end;

    /// The first entry of a tile.
    [[nodiscard]] __device__ static std::int64_t first(const merge_step& at) {
        return std::int64_t{at.tile} * merge_tile_items - at.row;
    }

    [[nodiscard]] __device__ static int entries(const merge_view<T, Offset>& m,
                                                const merge_step& at) {
        const std::int64_t left = m.items - std::int64_t{at.tile} * merge_tile_items;
        const int items = left < merge_tile_items ? static_cast<int>(left) : merge_tile_items;
        return items - (at.end_row - at.row);
    }

    __device__ void start(const merge_view<T, Offset>& m, const merge_step& at) {
        if (at.tile < 0) return;
        const int me = static_cast<int>(threadIdx.x);
        const int count = entries(m, at);
        const std::int32_t* const columns = m.columns + first(at);
        const T* const values = m.values + first(at);
        row_end = me < at.end_row - at.row ? m.offsets[at.row + 1 + me] : Offset(0);
#pragma unroll
        for (int u = 0; u < in_flight; ++u) {
            const int i = me + u * block_threads;
            column[u] = i < count ? load_once(columns + i) : -1;
            value[u] = i < count ? load_once(values + i) : T(0);
        }
    }
};

} // namespace krylith::cuda
