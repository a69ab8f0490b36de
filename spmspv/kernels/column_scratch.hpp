// The scratch memory of column kernels on CUDA, and the size of their grids.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <krylith/sparse/merge/merge_scratch.hpp>
#include <krylith/spmspv/kernels/column_places.hpp>
#include <krylith/spmspv/kernels/kernel_arithmetic.hpp>
#include <krylith/spmspv/kernels/radix_sort.hpp>
#include <krylith/spmspv/product/kernel_name.hpp>

namespace krylith::cuda {

/// The number of terms that a block sums up at once: 256 threads of 8.
inline constexpr std::int64_t sum_tile_terms = 2048;

/// The largest number of chunks of consecutive tiles: one block for each.
inline constexpr std::int64_t most_sum_chunks = 2048;

[[nodiscard]] constexpr std::int64_t sum_tiles(std::int64_t terms) {
    return (terms + sum_tile_terms - 1) / sum_tile_terms;
}

/// The scratch as parts of one allocation, 256-byte aligned; null where the kernel needs none.
template <class T>
struct column_scratch {
    std::byte* scan = nullptr; ///< scratch of two_pass_scan.cuh
    std::int32_t* ends = nullptr;
    std::int32_t* starts = nullptr;
    sort_arrays terms{}; ///< rows of terms, and their values of type T
    std::byte* sort = nullptr;
    std::size_t sort_bytes = 0;
    std::int32_t* finished = nullptr; ///< number of blocks that are done
    std::int32_t* ended = nullptr;    ///< [chunks] rows that end there
    chunk_edges<T> edges{};           ///< [chunks]
    std::size_t bytes = 0;            ///< bytes of all parts

    /// Divides `memory`, which may be null: only `bytes` is valid then.
    static column_scratch in(std::byte* memory, spmspv::kernel k, std::int64_t entries,
                             std::int64_t frontier_nonzeros) {
        column_scratch s;
        const auto take = [&](std::int64_t count, std::size_t size) {
            std::byte* const part = memory == nullptr ? nullptr : memory + s.bytes;
            s.bytes += (static_cast<std::size_t>(count) * size + 255) / 256 * 256;
            return part;
        };
        const auto numbers = [&](std::int64_t count) {
            return reinterpret_cast<std::int32_t*>(take(count, sizeof(std::int32_t)));
        };
        const bool sorts = write_back_of(k) == spmspv::write_back::sort;
        if (k != spmspv::kernel::column_atomic) {
            s.scan = take(most_sum_chunks, sizeof(std::int32_t));
            s.ends = numbers(entries);
            s.starts = numbers(entries);
        }
        if (!sorts) return s;
        for (int b = 0; b < 2; ++b) {
            s.terms.keys[b] = reinterpret_cast<std::uint32_t*>(numbers(frontier_nonzeros));
            s.terms.values[b] = take(frontier_nonzeros, sizeof(T));
        }
        s.sort_bytes = sort_scratch_bytes(frontier_nonzeros, sizeof(T));
        s.sort = take(static_cast<std::int64_t>(s.sort_bytes), 1);
        const std::int64_t chunks = std::min(sum_tiles(frontier_nonzeros), most_sum_chunks);
        s.finished = numbers(1);
        s.ended = numbers(chunks);
        s.edges.heads = reinterpret_cast<T*>(take(chunks, sizeof(T)));
        s.edges.carries = reinterpret_cast<T*>(take(chunks, sizeof(T)));
        s.edges.rows = numbers(chunks);
        return s;
    }
};

/// The size of the grid of a column kernel.
struct column_grid {
    std::int64_t blocks; ///< blocks that have something to do, as far as the host knows
    std::uint32_t lanes; ///< lanes for an entry (direct)
};

/// Few entries get whole warps: otherwise most of the device would have nothing to do.
template <class Arguments>
[[nodiscard]] column_grid column_grid_of(const Arguments& a, bool balanced) {
    constexpr std::int64_t threads = 256;
    if (balanced) {
        const std::int64_t terms =
            a.frontier_nonzeros >= 0 ? a.frontier_nonzeros : a.columns.nonzeros;
        constexpr std::int64_t tile = spmspv::column_tile_items;
        return {(a.entries + terms + tile - 1) / tile, 32};
    }
    constexpr std::int64_t few = 1 << 13;
    const int lanes =
        a.entries <= few
            ? 32
            : std::max(4, spmspv::lanes_a_major(a.columns.major_size, a.columns.nonzeros));
    return {(a.entries * lanes + threads - 1) / threads, static_cast<std::uint32_t>(lanes)};
}

} // namespace krylith::cuda
