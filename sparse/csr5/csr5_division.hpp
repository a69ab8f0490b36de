// Which block of threads multiplies which tiles of CSR5, and which empty rows.
#pragma once

#include <algorithm>
#include <cstdint>

#include <krylith/sparse/merge/merge_path.hpp>

namespace krylith {

/// The warps of a block, each of which takes a part of a chunk.
inline constexpr std::int32_t csr5_parts = 8;

/// Tiles in chunks of consecutive ones for a block, and a chunk in parts of consecutive ones for
/// its warps. Sums of unfinished rows are carried inside a part and joined at its end. Each chunk
/// has an equal number of the empty rows, too.
struct csr5_division {
    std::int32_t tiles;
    std::int32_t part_tiles;
    std::int32_t chunks;

    [[nodiscard]] std::int64_t chunk_tiles() const { return std::int64_t{part_tiles} * csr5_parts; }
};

/// The first empty row of a chunk, counted among them.
[[nodiscard]] KRYLITH_HD inline std::int64_t
empty_rows_before(std::int64_t empty_rows, std::int64_t chunk, std::int64_t chunks) {
    return empty_rows * chunk / chunks;
}

/// Divides the tiles for `teams` > 0 blocks that take chunks in turn, as divide_merge_path() does.
[[nodiscard]] inline csr5_division divide_csr5_tiles(std::int64_t tiles, std::int64_t empty_rows,
                                                     std::int64_t teams) {
    constexpr std::int64_t few_empty_rows = 4096; // for a block
    teams = std::min<std::int64_t>(teams, most_merge_chunks);
    const std::int64_t part = turn_length((tiles + csr5_parts - 1) / csr5_parts, teams);
    const std::int64_t chunks = (tiles + part * csr5_parts - 1) / (part * csr5_parts);
    const std::int64_t for_empty = std::min(teams, empty_rows / few_empty_rows);
    return {static_cast<std::int32_t>(tiles), static_cast<std::int32_t>(part),
            static_cast<std::int32_t>(std::max({chunks, for_empty, std::int64_t{1}}))};
}

} // namespace krylith
