// The tiles of CSR on a CUDA device. Where a tile begins depends on all tiles before it. But a tile
// has at most 256 rows, so the first tile that begins in a chunk of rows begins at one of its first
// 256: a block follows the tiles of its chunk from each of these, and a walk over the chunks then
// finds which one it is.
#include <krylith/sparse/pattern/csr_tiles.hpp>
#include <krylith/vector/execution/kernel_context_cuda.cuh>

#include <krylith/device/cuda/cuda_device.cuh>

namespace krylith::cuda {

namespace {

constexpr int chunk_rows = 4096;
/// Rows where a chunk may be entered.
constexpr int chunk_entries = static_cast<int>(csr_tile_rows);

/// A walk through a chunk from one of its first rows.
struct chunk_walk {
    std::uint16_t tiles; ///< that begin in the chunk
    std::uint16_t exit;  ///< where the next chunk is entered
};

/// How the walk over the chunks enters one.
struct chunk_entry {
    std::int32_t row;   ///< counted in the chunk
    std::int32_t tiles; ///< that begin in earlier chunks
};

/// The ends of the tiles that begin at each row of a chunk, counted in the chunk.
struct chunk_tiles {
    std::uint16_t end[chunk_rows];

    /// Returns the number of rows of the chunk. The whole block calls it.
    __device__ int fill(const std::int64_t* offsets, std::int64_t all, std::int64_t first) {
        const std::int64_t rest = all - first;
        const int rows = static_cast<int>(rest < chunk_rows ? rest : chunk_rows);
        __syncthreads(); // readers of the chunk before
        for (int row = static_cast<int>(threadIdx.x); row < rows; row += block_threads)
            end[row] = static_cast<std::uint16_t>(end_of_tile(offsets, all, first + row) - first);
        __syncthreads();
        return rows;
    }
};

__global__ void __launch_bounds__(block_threads)
    walk_chunks(const std::int64_t* offsets, std::int64_t rows, std::int32_t chunks,
                chunk_walk* walks) {
    static_assert(chunk_entries == block_threads, "a thread follows the tiles from each entry");
    __shared__ chunk_tiles tiles;
    for (std::int64_t chunk = blockIdx.x; chunk < chunks; chunk += gridDim.x) {
        const int here = tiles.fill(offsets, rows, chunk * chunk_rows);
        int row = static_cast<int>(threadIdx.x);
        int count = 0;
        for (; row < here; ++count) row = tiles.end[row];
        walks[chunk * chunk_entries + threadIdx.x] = {
            static_cast<std::uint16_t>(count),
            static_cast<std::uint16_t>(row < chunk_rows ? 0 : row - chunk_rows)};
    }
}

/// Walks over the chunks with one thread, for which the block loads what it looks at.
__global__ void __launch_bounds__(block_threads)
    enter_chunks(const chunk_walk* walks, std::int32_t chunks, chunk_entry* found) {
    constexpr int batch = 32;
    __shared__ chunk_walk loaded[batch * chunk_entries];
    chunk_entry at{0, 0};
    for (std::int64_t first = 0; first < chunks; first += batch) {
        const std::int64_t rest = chunks - first;
        const int count = static_cast<int>(rest < batch ? rest : batch);
        for (int k = static_cast<int>(threadIdx.x); k < count * chunk_entries; k += block_threads)
            loaded[k] = walks[first * chunk_entries + k];
        __syncthreads();
        if (threadIdx.x == 0)
            for (int k = 0; k < count; ++k) {
                found[first + k] = at;
                const chunk_walk walk = loaded[k * chunk_entries + at.row];
                at = {walk.exit, at.tiles + walk.tiles};
            }
        __syncthreads();
    }
    if (threadIdx.x == 0) found[chunks] = at;
}

__global__ void __launch_bounds__(block_threads)
    store_tiles(const std::int64_t* offsets, std::int64_t rows, std::int32_t chunks,
                const chunk_entry* found, std::int32_t* first_row) {
    __shared__ chunk_tiles tiles;
    for (std::int64_t chunk = blockIdx.x; chunk < chunks; chunk += gridDim.x) {
        const int here = tiles.fill(offsets, rows, chunk * chunk_rows);
        if (threadIdx.x != 0) continue;
        const chunk_entry entry = found[chunk];
        std::int32_t* to = first_row + entry.tiles;
        for (int row = entry.row; row < here; row = tiles.end[row])
            *to++ = static_cast<std::int32_t>(chunk * chunk_rows) + row;
        if (chunk == chunks - 1) *to = static_cast<std::int32_t>(rows);
    }
}

} // namespace

buffer<std::int32_t> make_csr_tiles(const std::shared_ptr<device>& device,
                                    const std::int64_t* offsets, std::int64_t rows) {
    const auto chunks = static_cast<std::int32_t>((rows + chunk_rows - 1) / chunk_rows);
    if (chunks == 0) {
        buffer<std::int32_t> none(device, 1, "matrix");
        none.zero();
        return none;
    }
    const buffer<chunk_walk> walks(device, static_cast<std::size_t>(chunks) * chunk_entries,
                                   "set-up");
    const buffer<chunk_entry> found(device, static_cast<std::size_t>(chunks) + 1, "set-up");
    chunk_entry end{};
    {
        const launch_scope launch(*device);
        const auto blocks = launch.blocks(walk_chunks, block_threads, chunks);
        walk_chunks<<<blocks, block_threads, 0, launch.stream()>>>(offsets, rows, chunks,
                                                                   walks.data());
        launch.check_launch();
        enter_chunks<<<1, block_threads, 0, launch.stream()>>>(walks.data(), chunks, found.data());
        launch.check_launch();
    }
    device->download(&end, found.data() + chunks, sizeof end);
    buffer<std::int32_t> result(device, static_cast<std::size_t>(end.tiles) + 1, "matrix");
    {
        const launch_scope launch(*device);
        store_tiles<<<launch.blocks(store_tiles, block_threads, chunks), block_threads, 0,
                      launch.stream()>>>(offsets, rows, chunks, found.data(), result.data());
        launch.check_launch();
    }
    device->synchronize(); // before scratch memory is given back
    return result;
}

} // namespace krylith::cuda
