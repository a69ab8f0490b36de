// The merge path of a CSR matrix: rows + nonzeros items, which are assigned equally to tiles,
// whatever the lengths of rows (Merrill and Garland, "Merge-based parallel sparse matrix-vector
// multiplication", SC 2016). The path has the entries in their order, and after the last entry of
// each row an item that ends it: item m + row_ends[m] ends row m.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include <krylith/device/kernel/annotations.hpp>

namespace krylith {

/// The number of items that a block of threads multiplies at once: 256 threads of 7.
inline constexpr std::int32_t merge_tile_items = 1792;

/// The largest number of chunks of the path: one block joins the rows that are open at their ends.
inline constexpr std::int32_t most_merge_chunks = 8192;

/// The number of rows that end within the first `items` items of the path; the others of these
/// items are entries. row_ends[m] is the number of entries before the end of row m, perhaps plus an
/// offset that `items` has too. O(log rows).
template <class Index, class Offset, class Item>
[[nodiscard]] KRYLITH_HD Index rows_ended(const Offset* row_ends, Index rows, Item items) {
    Index low = 0;
    Index high = rows;
    while (low < high) {
        const Index middle = low + (high - low) / 2;
        if (row_ends[middle] < items - middle)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/// The division of the path into tiles, and of the tiles into chunks of consecutive ones, which a
/// team of threads multiplies one after the other; sums of unfinished rows are carried inside a
/// chunk, and left at its end.
struct merge_division {
    std::int64_t items; ///< rows + nonzeros
    std::int32_t tiles;
    std::int32_t tiles_per_chunk; ///< the last chunk may have fewer
    std::int32_t chunks;

    [[nodiscard]] KRYLITH_HD std::int64_t chunk_begin(std::int64_t chunk) const {
        const std::int64_t begin = chunk * tiles_per_chunk * merge_tile_items;
        return begin < items ? begin : items;
    }
};

/// The number of consecutive units, at least 1, that each of `teams` > 0 takes in one turn: up to 8
/// turns each, so that teams are close together in the matrix and find the same x in the caches, if
/// that leaves no team idle for more than 3% of the time. There are at most most_merge_chunks turns
/// of all, if there are at most so many teams.
[[nodiscard]] inline std::int64_t turn_length(std::int64_t units, std::int64_t teams) {
    constexpr std::int64_t most_turns = 8;
    const std::int64_t of_team = std::max<std::int64_t>(1, (units + teams - 1) / teams);
    std::int64_t turns = std::min({most_turns, of_team, most_merge_chunks / teams});
    const auto length = [&] { return (of_team + turns - 1) / turns; };
    while (turns > 1 && turns * length() - of_team > of_team / 32) --turns;
    return length();
}

/// Divides the path for `teams` > 0 that take chunks in turn.
[[nodiscard]] inline merge_division divide_merge_path(std::int64_t rows, std::int64_t nonzeros,
                                                      std::int64_t teams) {
    const std::int64_t items = rows + nonzeros;
    const std::int64_t tiles = (items + merge_tile_items - 1) / merge_tile_items;
    const std::int64_t length =
        turn_length(tiles, std::min<std::int64_t>(teams, most_merge_chunks));
    return {items, static_cast<std::int32_t>(tiles), static_cast<std::int32_t>(length),
            static_cast<std::int32_t>((tiles + length - 1) / length)};
}

/// The rows [first, last) of which a chunk may have entries; offsets[0] need not be 0.
struct touched_rows {
    std::int64_t first, last;
};

[[nodiscard]] KRYLITH_HD inline touched_rows rows_of_chunk(const std::int64_t* offsets,
                                                           std::int64_t rows,
                                                           const merge_division& path,
                                                           std::int64_t chunk) {
    const std::int64_t base = offsets[0];
    const std::int64_t* const ends = offsets + 1;
    const std::int64_t last = rows_ended(ends, rows, base + path.chunk_begin(chunk + 1)) + 1;
    return {rows_ended(ends, rows, base + path.chunk_begin(chunk)), last < rows ? last : rows};
}

} // namespace krylith
