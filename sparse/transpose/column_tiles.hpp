// How the columns of a matrix are cut into tiles, and its rows into chunks, where the columns of
// neighbouring rows are near each other: plain data and arithmetic, without a device.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace krylith {

/// A tile is 2^tile_bits columns, whose entries one block of threads sorts in shared memory. A
/// chunk is `chunk_rows` rows, which a warp reads for each tile that they have entries in.
struct column_tiles {
    int tile_bits = 0;
    int chunk_rows = 32; ///< a multiple of 32
    std::int64_t tiles = 0;
    std::int64_t chunks = 0;

    static constexpr int most_tile_bits = 12;
    static constexpr std::int64_t most_tiles = 1 << 20;
    static constexpr int most_chunks = 96;                 ///< of a tile
    static constexpr int chunk_entries = 1792;             ///< about, of a chunk
    static constexpr std::int64_t largest_chunk = 1 << 20; ///< entries
    /// The pattern's indices may be read so often, in all.
    static constexpr std::int64_t most_reads = 8;

    [[nodiscard]] constexpr std::int64_t tile_columns() const noexcept {
        return std::int64_t{1} << tile_bits;
    }
    /// Whether there are few enough tiles to be worth it.
    [[nodiscard]] constexpr bool possible() const noexcept {
        return tiles > 0 && tiles <= most_tiles;
    }
};

/// Cuts so that a tile has, on the average, at most half of `capacity` entries.
[[nodiscard]] inline column_tiles make_column_tiles(std::int64_t rows, std::int64_t columns,
                                                    std::int64_t nonzeros, int capacity) {
    column_tiles t;
    if (rows == 0 || columns == 0 || nonzeros == 0) return t;
    const std::int64_t wanted = std::max<std::int64_t>(
        1, static_cast<std::int64_t>(0.5 * capacity * static_cast<double>(columns) /
                                     static_cast<double>(nonzeros)));
    t.tile_bits =
        std::min(column_tiles::most_tile_bits,
                 static_cast<int>(std::bit_width(static_cast<std::uint64_t>(wanted))) - 1);
    t.tiles = (columns - 1) / t.tile_columns() + 1;
    const std::int64_t chunk = static_cast<std::int64_t>(
        column_tiles::chunk_entries * static_cast<double>(rows) / static_cast<double>(nonzeros));
    t.chunk_rows = static_cast<int>(std::clamp<std::int64_t>(chunk / 32 * 32, 32, 1024));
    t.chunks = (rows - 1) / t.chunk_rows + 1;
    return t;
}

} // namespace krylith
