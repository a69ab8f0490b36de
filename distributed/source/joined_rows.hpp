// Ranges of rows of a matrix, or of parts of rows, as one block, in the order in which a device
// computes them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <krylith/distributed/source/row_starts.hpp>
#include <krylith/partition/nonzero/entry_list.hpp>
#include <krylith/partition/replicated/block_partition.hpp>
#include <krylith/sparse/device_matrix.hpp>

namespace krylith {

/// A segment: rows [begin, begin + rows.size()) of a block.
struct row_segment {
    std::int64_t begin;
    row_range rows;     ///< rows of the matrix
    row_range nonzeros; ///< which entries it has of these rows: all, or a range of them
};

struct joined_rows {
    std::vector<row_segment> segments; ///< at least one, which may be empty
    std::int64_t size = 0;             ///< rows of the block, padding included
    row_map map;                       ///< identity if the rows are consecutive and all are sent

    /// Returns the row of y that is row 0 of the block where map.count = 0; otherwise pointers
    /// start at row 0 of y.
    [[nodiscard]] std::int64_t first_row() const {
        return map.count == 0 ? segments.front().rows.begin : 0;
    }
    [[nodiscard]] bool consecutive() const { return segments.size() == 1; }
    /// The entries of the block, in its order.
    [[nodiscard]] entry_list entries() const;

    /// Writes offsets [first, first + count) of the block's rows, from 0, of which there are
    /// size + 1. O(count + segments).
    void read_offsets(std::span<const std::int64_t> row_offsets, std::int64_t first,
                      std::int64_t count, std::int64_t* to) const;
    /// Returns all of them.
    [[nodiscard]] std::vector<std::int64_t>
    offsets(std::span<const std::int64_t> row_offsets) const;
};

/// Returns all rows that the part computes: its ranges, with neighbours in one segment, then the
/// redundant rows. Segments begin at whole warps of the block, because a warp's results should fill
/// whole lines of memory: a segment that ends within a warp, at the end of the matrix, is padded.
[[nodiscard]] joined_rows join_rows(const block_partition& partition, int part,
                                    const row_starts& starts);

/// Returns one range as a block.
[[nodiscard]] joined_rows lone_rows(row_range rows, const row_starts& starts);

} // namespace krylith
