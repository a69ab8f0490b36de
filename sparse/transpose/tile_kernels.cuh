// Transposition of patterns whose neighbouring rows have their columns near each other, without a
// sort over the device. Three kernels:
//
//   list_chunks      a warp a chunk of rows counts its entries in each tile of columns
//   scan             where the entries of each tile begin
//   transpose_tiles  a block a tile collects the tile's entries from its chunks, warp by warp in
//   the
//                    order of rows, sorts them by column in shared memory and writes all in order
//
// Bytes (7-point mesh, fp64, a nonzero): 4 read by list_chunks; then 12 read and 12 written, and a
// chunk's 4 bytes of indices again for each further tile, from the L2 cache. With 8 bytes of
// offsets a row and a column that is 30.3, 3.5 GB for 256^3.
#pragma once

#include <cstdint>

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/cuda/warp.cuh>
#include <krylith/sparse/transpose/column_tiles.hpp>
#include <krylith/sparse/transpose/entry_rows.cuh>
#include <krylith/sparse/transpose/sort_columns.cuh>
#include <krylith/sparse/transpose/transpose_ways.hpp>

namespace krylith::cuda {

using wide_count = unsigned long long; // the type of CUDA's atomics of 64 bits

/// A chunk with entries in a tile, and how many.
struct tile_chunk {
    std::uint32_t chunk;
    std::uint32_t entries;
};

/// Arrays on the device.
struct tile_lists {
    column_tiles cut;
    tile_chunk* chunks;          ///< [tiles * most_chunks], in any order
    unsigned* chunk_counts;      ///< [tiles]
    wide_count* entries;         ///< [tiles]
    std::int64_t* first_entries; ///< [tiles + 1]: places of the transposed arrays
    transpose_facts* facts;
};

inline constexpr int list_threads = 256;

__global__ void __launch_bounds__(list_threads)
    list_chunks(const __grid_constant__ csr_pattern a, const __grid_constant__ tile_lists lists,
                const unsigned* unless) {
    if (unless != nullptr && *unless == 0) return;
    const int lane = lane_number();
    const int warps = static_cast<int>(gridDim.x) * (list_threads / 32);
    const column_tiles& cut = lists.cut;
    for (std::int64_t chunk = std::int64_t{blockIdx.x} * (list_threads / 32) + threadIdx.x / 32;
         chunk < cut.chunks; chunk += warps) {
        if (*const_cast<volatile unsigned*>(&lists.facts->not_local) != 0) return;
        const std::int64_t begin = a.offsets[chunk * cut.chunk_rows];
        const std::int64_t end = a.offsets[min((chunk + 1) * cut.chunk_rows, a.rows)];
        bool local = end - begin <= column_tiles::largest_chunk;
        // Lane t has the t-th tile found and how many entries are in it.
        int tile_found = -1;
        unsigned entries = 0;
        int found = 0;
        constexpr int steps = 8;
        for (std::int64_t k = begin; local && k < end; k += 32 * steps) {
            int tile[steps];
#pragma unroll
            for (int s = 0; s < steps; ++s) {
                const std::int64_t at = k + 32 * s + lane;
                tile[s] = at < end ? a.indices[at] >> cut.tile_bits : -1;
            }
#pragma unroll
            for (int s = 0; s < steps; ++s) {
                unsigned left = __ballot_sync(all_lanes, tile[s] >= 0);
                while (left != 0) {
                    const int next = __shfl_sync(all_lanes, tile[s], __ffs(left) - 1);
                    const unsigned same = __ballot_sync(all_lanes, tile[s] == next);
                    left &= ~same;
                    const unsigned known = __ballot_sync(all_lanes, tile_found == next);
                    if (known == 0 && found == 32) {
                        local = false;
                        break;
                    }
                    const int place = known == 0 ? found++ : __ffs(known) - 1;
                    if (lane == place) {
                        tile_found = next;
                        entries += __popc(same);
                    }
                }
            }
        }
        if (!local) {
            if (lane == 0) atomicOr(&lists.facts->not_local, 1u);
            return;
        }
        if (lane < found) {
            const unsigned slot = atomicAdd(&lists.chunk_counts[tile_found], 1u);
            if (slot < column_tiles::most_chunks)
                lists.chunks[std::int64_t{tile_found} * column_tiles::most_chunks + slot] = {
                    static_cast<std::uint32_t>(chunk), entries};
            else // no tile is needed any more
                atomicOr(&lists.facts->not_local, 1u);
            atomicAdd(&lists.entries[tile_found], static_cast<wide_count>(entries));
        }
        if (lane == 0 && begin != end) {
            const auto mine = static_cast<wide_count>(end - begin);
            const wide_count reads = mine * static_cast<wide_count>(found);
            atomicAdd(&lists.facts->seen, mine); // first: what has been read has been seen
            const wide_count all_reads = atomicAdd(&lists.facts->tile_reads, reads) + reads;
            const wide_count seen = *const_cast<volatile wide_count*>(&lists.facts->seen);
            // A sixteenth of the entries tells what the others will be like.
            if (seen > static_cast<wide_count>(a.nonzeros) / 16 &&
                2 * all_reads > 3 * column_tiles::most_reads * seen)
                atomicOr(&lists.facts->not_local, 1u);
        }
    }
}

/// The sizes of tiles for two_pass_scan.cuh.
struct tile_sizes {
    tile_lists lists;

    struct item {
        std::int64_t size = 0;
    };
    [[nodiscard]] __device__ std::uint32_t count() const {
        return static_cast<std::uint32_t>(lists.cut.tiles);
    }
    [[nodiscard]] __device__ item load(std::uint32_t i) const {
        return {static_cast<std::int64_t>(lists.entries[i])};
    }
    __device__ void emit(bool there, std::uint32_t i, const item& one, std::int64_t before) const {
        if (there) lists.first_entries[i] = before;
        const unsigned chunks = there ? lists.chunk_counts[i] : 0;
        const unsigned most =
            warp_reduce(chunks, [](unsigned x, unsigned y) { return x > y ? x : y; });
        const std::int64_t largest =
            warp_reduce(one.size, [](std::int64_t x, std::int64_t y) { return x > y ? x : y; });
        if (lane_number() != 0) return;
        atomicMax(&lists.facts->most_chunks, most);
        atomicMax(&lists.facts->largest_tile, static_cast<wide_count>(largest));
    }
    __device__ void finish(std::int64_t total) const {
        lists.first_entries[lists.cut.tiles] = total;
    }
};

/// What a block keeps of its tile, in dynamic shared memory.
template <int Capacity>
struct tile_memory {
    std::uint32_t position[Capacity]; ///< of an entry in the matrix's arrays
    std::int32_t row[Capacity];
    std::uint16_t column[Capacity]; ///< from the tile's first
    std::uint16_t sorted[Capacity]; ///< entries by column
    tile_chunk chunks[column_tiles::most_chunks];
    tile_chunk unordered[column_tiles::most_chunks];
    std::uint32_t first[column_tiles::most_chunks]; ///< place of the chunk's first entry
    std::uint32_t sums[34];
    std::uint32_t ends[1]; ///< [tile columns], the last member

    [[nodiscard]] static constexpr std::size_t bytes(int tile_bits) {
        return sizeof(tile_memory) + (sizeof(std::uint32_t) << tile_bits);
    }
};

/// Puts the list of chunks in the order of rows and finds where the entries of each go.
template <class Memory>
__device__ inline void order_tile_chunks(Memory& m, int count) {
    for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) {
        const tile_chunk mine = m.unordered[i];
        int place = 0;
        std::uint32_t before = 0;
        for (int j = 0; j < count; ++j) {
            const tile_chunk other = m.unordered[j];
            if (other.chunk < mine.chunk) {
                ++place;
                before += other.entries;
            }
        }
        m.chunks[place] = mine;
        m.first[place] = before;
    }
}

/// Appends the entries of a chunk that are in the tile. A warp calls it.
template <class Memory>
__device__ inline void collect_chunk(Memory& m, const csr_pattern& a, const column_tiles& cut,
                                     int first_column, std::int64_t chunk, std::uint32_t to) {
    const int lane = lane_number();
    const std::int64_t end_row = min((chunk + 1) * cut.chunk_rows, a.rows);
    const std::int64_t base = a.offsets[chunk * cut.chunk_rows];
    std::int64_t position = base;
    for (std::int64_t row = chunk * cut.chunk_rows; row < end_row; row += 32) {
        const row_group group = row_group::load(a.offsets, row, end_row, base);
        constexpr int steps = 8;
        while (position < group.end) {
            int column[steps];
#pragma unroll
            for (int s = 0; s < steps; ++s) {
                const std::int64_t at = position + 32 * s + lane;
                // Columns of other tiles become numbers of 2^tile_bits and more.
                column[s] = at < group.end ? __ldg(a.indices + at) - first_column : -1;
            }
#pragma unroll
            for (int s = 0; s < steps; ++s) {
                const bool mine = static_cast<unsigned>(column[s]) < 1u << cut.tile_bits;
                const unsigned matches = __ballot_sync(all_lanes, mine);
                if (matches == 0) continue;
                const int step = static_cast<int>(position - base) + 32 * s;
                const int in_group = group.row_of(step);
                if (mine) {
                    const std::uint32_t q = to + __popc(matches & lanes_below());
                    m.position[q] = static_cast<std::uint32_t>(base + step + lane);
                    m.row[q] = static_cast<std::int32_t>(row) + in_group;
                    m.column[q] = static_cast<std::uint16_t>(column[s]);
                    atomicAdd(&m.ends[column[s]], 1u);
                }
                to += __popc(matches);
            }
            position = min(position + 32 * steps, group.end);
        }
    }
}

/// The entries of a tile for sort_columns().
template <class T, class Memory>
struct tile_entries {
    const Memory& m;
    const transposed_arrays<T>& to;

    [[nodiscard]] __device__ std::uint32_t column(std::uint32_t q) const { return m.column[q]; }
    struct item {
        std::int32_t row;
        std::uint32_t position;
        T value;
    };
    [[nodiscard]] __device__ item load(std::uint32_t q) const {
        const std::uint32_t k = m.position[q];
        return {m.row[q], k, to.values != nullptr ? __ldg(to.values + k) : T{0}};
    }
    __device__ void store(std::int64_t place, const item& one) const {
        to.indices[place] = one.row;
        if (to.places.narrow != nullptr) to.places.narrow[place] = one.position;
        if (to.values != nullptr) to.transposed_values[place] = one.value;
    }
};

template <class T, int Threads, int Capacity>
__global__ void __launch_bounds__(Threads, 1024 / Threads)
    transpose_tiles(const __grid_constant__ csr_pattern a, const __grid_constant__ tile_lists lists,
                    const __grid_constant__ transposed_arrays<T> to) {
    extern __shared__ std::uint32_t memory[];
    auto& m = *reinterpret_cast<tile_memory<Capacity>*>(memory);
    const column_tiles& cut = lists.cut;
    const std::int64_t tile = blockIdx.x;
    const int first_column = static_cast<int>(tile << cut.tile_bits);
    const int columns =
        static_cast<int>(min(cut.tile_columns(), a.columns - std::int64_t{first_column}));
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const auto entries = static_cast<std::uint32_t>(lists.entries[tile]);
    const auto chunks = static_cast<int>(lists.chunk_counts[tile]);
    const std::int64_t first_entry = lists.first_entries[tile];

    const column_sorter sorter{m.ends, m.sorted, m.sums};
    sorter.clear(columns);
    for (int i = static_cast<int>(threadIdx.x); i < chunks; i += Threads)
        m.unordered[i] = lists.chunks[tile * column_tiles::most_chunks + i];
    __syncthreads();
    order_tile_chunks(m, chunks);
    __syncthreads();
    for (int i = warp; i < chunks; i += Threads / 32)
        collect_chunk(m, a, cut, first_column, m.chunks[i].chunk, m.first[i]);
    __syncthreads();
    sort_columns(sorter, tile_entries<T, tile_memory<Capacity>>{m, to}, entries, columns,
                 first_entry, to.offsets + first_column);
    if (tile == cut.tiles - 1 && threadIdx.x == 0) to.offsets[a.columns] = a.nonzeros;
}

} // namespace krylith::cuda
