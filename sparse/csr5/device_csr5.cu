// CSR5 made on a CUDA device: a thread finds the row where a tile begins, a warp describes the
// lanes of a tile, and scans find the places of what only some tiles and rows have.
#include <krylith/sparse/csr5/device_csr5.hpp>

#include <limits>
#include <string>

#include <krylith/device/cuda/launch_over.cuh>
#include <krylith/device/error.hpp>
#include <krylith/device/loops/two_pass_scan.cuh>

namespace krylith::cuda {

namespace {

/// A block's offsets in CSR, the first of which is 0, and its shape.
struct tile_source {
    const std::int64_t* offsets;
    std::int64_t rows;
    std::int64_t nonzeros;
    csr5_shape shape;
    std::int64_t tiles;
};

__global__ void __launch_bounds__(block_threads)
    find_tile_rows(const __grid_constant__ tile_source from, std::uint32_t* tile_rows) {
    const std::int64_t stride = std::int64_t{gridDim.x} * block_threads;
    for (std::int64_t tile = std::int64_t{blockIdx.x} * block_threads + threadIdx.x;
         tile <= from.tiles; tile += stride) {
        if (tile == from.tiles) {
            tile_rows[tile] = static_cast<std::uint32_t>(from.rows);
            continue;
        }
        const std::int64_t entry = tile * from.shape.tile_entries();
        std::int64_t low = 0; // the row has an offset of at most `entry`
        std::int64_t high = from.rows;
        while (high - low > 1) {
            const std::int64_t middle = low + (high - low) / 2;
            if (from.offsets[middle] <= entry)
                low = middle;
            else
                high = middle;
        }
        tile_rows[tile] = static_cast<std::uint32_t>(low);
    }
}

/// Calls body(tile) for each tile with a warp.
template <class Body>
__device__ inline void for_each_tile(std::int64_t tiles, Body body) {
    const std::int64_t warps = std::int64_t{gridDim.x} * block_warps;
    for (std::int64_t t = std::int64_t{blockIdx.x} * block_warps + threadIdx.x / 32; t < tiles;
         t += warps)
        body(t);
}

/// Stores the words of all lanes, and the number of segments of each tile that has empty rows, 0
/// for others.
__global__ void __launch_bounds__(block_threads)
    describe_tiles(const __grid_constant__ tile_source from, const std::uint32_t* tile_rows,
                   std::uint32_t* lanes, std::uint32_t* segments_with_empty) {
    __shared__ std::uint32_t flags_of[block_warps][csr5_omega];
    std::uint32_t* const flags = flags_of[threadIdx.x / 32];
    const int lane = lane_number();
    for_each_tile(from.tiles, [&](std::int64_t tile) {
        const std::int64_t first = tile * from.shape.tile_entries();
        const std::int64_t behind = first + from.shape.tile_entries();
        const std::int64_t end = behind < from.nonzeros ? behind : from.nonzeros;
        const auto row = static_cast<std::int64_t>(tile_rows[tile]);
        const auto next_row = static_cast<std::int64_t>(tile_rows[tile + 1]);
        __syncwarp();
        flags[lane] = lane == 0 ? 1 : 0;
        __syncwarp();
        bool has_empty = false;
        for (std::int64_t r = row + lane; r < next_row; r += 32) {
            const std::int64_t begin = from.offsets[r + 1]; // of the row after r
            has_empty = has_empty || begin == from.offsets[r];
            if (begin >= end) continue;
            const auto at = static_cast<int>(begin - first);
            atomicOr(flags + at / from.shape.sigma, 1U << at % from.shape.sigma);
        }
        has_empty = __any_sync(all_lanes, has_empty) != 0;
        __syncwarp();
        const std::uint32_t mine = flags[lane];
        const int begun = __popc(mine);
        const int segments = warp_running_sum(begun);
        const unsigned above = __ballot_sync(all_lanes, mine != 0) >> lane >> 1;
        const int reach = above != 0 ? __ffs(static_cast<int>(above)) - 1 : 31 - lane;
        lanes[tile * csr5_omega + lane] =
            csr5_lane::pack(mine, segments - begun, mine != 0 ? reach : 0);
        if (lane == 31)
            segments_with_empty[tile] = has_empty ? static_cast<std::uint32_t>(segments) : 0U;
    });
}

/// The tiles with empty rows for the scan: they get their mark and the place of their segments.
struct marked_tiles {
    struct item {
        std::uint32_t size;
    };
    std::uint32_t tiles;
    std::uint32_t* tile_rows;
    std::uint32_t* empty_begin; ///< in: the numbers of segments

    [[nodiscard]] __device__ std::uint32_t count() const { return tiles; }
    [[nodiscard]] __device__ item load(std::uint32_t t) const { return {empty_begin[t]}; }
    __device__ void emit(bool there, std::uint32_t t, item is, std::uint32_t before) const {
        if (!there) return;
        if (is.size != 0) tile_rows[t] |= csr5_tile_row::mark;
        empty_begin[t] = before;
    }
    __device__ void finish(std::uint32_t total) const { empty_begin[tiles] = total; }
};

/// The empty rows for the scan; with a null list they are only counted.
struct rows_without_entries {
    struct item {
        std::uint32_t size;
    };
    const std::int64_t* offsets;
    std::uint32_t rows;
    std::int32_t* list;
    std::uint32_t* number;

    [[nodiscard]] __device__ std::uint32_t count() const { return rows; }
    [[nodiscard]] __device__ item load(std::uint32_t row) const {
        return {offsets[row] == offsets[std::int64_t{row} + 1] ? 1U : 0U};
    }
    __device__ void emit(bool there, std::uint32_t row, item is, std::uint32_t before) const {
        if (there && is.size != 0 && list != nullptr) list[before] = static_cast<std::int32_t>(row);
    }
    __device__ void finish(std::uint32_t total) const { *number = total; }
};

/// Stores the rows of the segments of tiles with empty rows.
__global__ void __launch_bounds__(block_threads)
    store_segment_rows(const __grid_constant__ tile_source from, const std::uint32_t* tile_rows,
                       const std::uint32_t* lanes, const std::uint32_t* empty_begin,
                       std::int32_t* empty_offsets) {
    const int lane = lane_number();
    for_each_tile(from.tiles, [&](std::int64_t tile) {
        if (!csr5_tile_row::has_empty(tile_rows[tile])) return;
        const std::int64_t first = tile * from.shape.tile_entries();
        const std::int64_t behind = first + from.shape.tile_entries();
        const std::int64_t end = behind < from.nonzeros ? behind : from.nonzeros;
        const std::int64_t row = csr5_tile_row::row(tile_rows[tile]);
        const std::int64_t next_row = csr5_tile_row::row(tile_rows[tile + 1]);
        std::int32_t* const to = empty_offsets + empty_begin[tile];
        if (lane == 0) to[0] = 0;
        for (std::int64_t r = row + 1 + lane; r <= next_row && r < from.rows; r += 32) {
            const std::int64_t begin = from.offsets[r];
            if (begin >= end || begin == from.offsets[r + 1]) continue;
            const auto at = static_cast<int>(begin - first);
            const std::uint32_t word = lanes[tile * csr5_omega + at / from.shape.sigma];
            const std::uint32_t up_to = (2U << at % from.shape.sigma) - 1;
            to[csr5_lane::y_offset(word) + __popc(csr5_lane::flags(word) & up_to) - 1] =
                static_cast<std::int32_t>(r - row);
        }
    });
}

template <class V>
__global__ void __launch_bounds__(block_threads)
    move_to_tiles(csr5_shape shape, std::int64_t nonzeros, std::int64_t first, std::int64_t last,
                  const V* from, std::int64_t base, V* to) {
    const std::int64_t stride = std::int64_t{gridDim.x} * block_threads;
    for (std::int64_t place = first + std::int64_t{blockIdx.x} * block_threads + threadIdx.x;
         place < last; place += stride)
        to[place] = from[shape.entry_at(place, nonzeros) - base];
}

void check_tiles(std::int64_t tiles) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    if (tiles > most)
        throw input_error("format csr5: tiles of a device are " + std::to_string(tiles) +
                          ", allowed are 0 to " + std::to_string(most));
}

buffer<std::int32_t> list_empty_rows(const std::shared_ptr<device>& device, const tile_source& from,
                                     void* scratch) {
    const buffer<std::uint32_t> number(device, 1, "set-up");
    rows_without_entries rows{from.offsets, static_cast<std::uint32_t>(from.rows), nullptr,
                              number.data()};
    scan(*device, rows, from.rows, scratch);
    buffer<std::int32_t> list(device, number.download().front(), "matrix");
    if (list.size() == 0) return list;
    rows.list = list.data();
    scan(*device, rows, from.rows, scratch);
    return list;
}

} // namespace

template <class V>
void order_by_tiles(device& device, csr5_shape shape, std::int64_t nonzeros, std::int64_t first,
                    std::int64_t last, const V* from, std::int64_t base, V* to) {
    if (first == last) return;
    launch_blocks(device, (last - first) / block_threads + 1, move_to_tiles<V>, shape, nonzeros,
                  first, last, from, base, to);
}

device_csr5 make_device_csr5(const std::shared_ptr<device>& device, const device_pattern& pattern,
                             int sigma) {
    const std::string item = "matrix";
    const block_lengths& lengths = pattern.lengths;
    device_csr5 result;
    result.shape = {csr5_omega, sigma};
    result.nonzeros = lengths.nonzeros;
    result.tiles = result.shape.tiles_of(lengths.nonzeros);
    check_tiles(result.tiles);
    const auto tiles = static_cast<std::size_t>(result.tiles);
    const tile_source from{pattern.offsets, lengths.rows, lengths.nonzeros, result.shape,
                           result.tiles};
    result.tile_rows = buffer<std::uint32_t>(device, tiles + 1, item);
    result.lanes = buffer<std::uint32_t>(device, tiles * csr5_omega, item);
    result.empty_begin = buffer<std::uint32_t>(device, tiles + 1, item);
    result.columns = buffer<std::int32_t>(device, static_cast<std::size_t>(lengths.nonzeros), item);
    const buffer<std::byte> scratch(device, scan_scratch_bytes_of<std::uint32_t>, "set-up");
    const std::int64_t warp_blocks = (result.tiles + block_warps - 1) / block_warps;
    launch_blocks(*device, result.tiles / block_threads + 1, find_tile_rows, from,
                  result.tile_rows.data());
    launch_blocks(*device, warp_blocks, describe_tiles, from, result.tile_rows.data(),
                  result.lanes.data(), result.empty_begin.data());
    scan(*device,
         marked_tiles{static_cast<std::uint32_t>(tiles), result.tile_rows.data(),
                      result.empty_begin.data()},
         result.tiles, scratch.data());
    std::uint32_t segments = 0;
    device->download(&segments, result.empty_begin.data() + tiles, sizeof segments);
    result.empty_offsets = buffer<std::int32_t>(device, segments, item);
    if (segments != 0)
        launch_blocks(*device, warp_blocks, store_segment_rows, from, result.tile_rows.data(),
                      result.lanes.data(), result.empty_begin.data(), result.empty_offsets.data());
    result.empty_rows = list_empty_rows(device, from, scratch.data());
    if (pattern.columns != nullptr)
        order_by_tiles(*device, result.shape, result.nonzeros, 0, result.nonzeros, pattern.columns,
                       0, result.columns.data());
    device->synchronize(); // before scratch memory and the pattern are given back
    return result;
}

#define KRYLITH_INSTANTIATE(V)                                                                     \
    template void order_by_tiles(device&, csr5_shape, std::int64_t, std::int64_t, std::int64_t,    \
                                 const V*, std::int64_t, V*);
KRYLITH_INSTANTIATE(std::int32_t)
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
