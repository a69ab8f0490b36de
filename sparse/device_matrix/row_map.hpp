// A map from the rows of a device's block to rows of y, where they are not consecutive: several
// ranges of rows are one block, so that one kernel computes them in the order of the block.
#pragma once

#include <cstdint>
#include <limits>

#include <krylith/device/kernel/annotations.hpp>

namespace krylith {

inline constexpr int max_row_segments = 4;

/// The map; plain data for kernels. Segment s is the rows of the block from begin[s] to the next
/// segment's begin; its row i is row i + shift[s] of y. Segments may be padded to whole warps by
/// rows without nonzeros, which lie beyond the rows of y.
struct row_map {
    std::int32_t count = 0; ///< segments; 0: row i of the block is row i + shift[0] of y, all are
    std::int32_t begin[max_row_segments] = {};
    std::int64_t shift[max_row_segments] = {};
    /// The block's rows from this one on are computed by every device and stored on this one only.
    std::int32_t alone = std::numeric_limits<std::int32_t>::max();
    std::int64_t counted_begin = 0; ///< rows of y, of those, that enter this device's dot products
    std::int64_t counted_end = 0;
    std::int64_t rows = std::numeric_limits<std::int64_t>::max(); ///< rows of y: others are padding

    /// The map of consecutive rows, which are rows of y from `first` on.
    [[nodiscard]] static row_map from(std::int64_t first) {
        row_map map;
        map.shift[0] = first;
        return map;
    }

    /// The row of y that is row `row` of the block.
    [[nodiscard]] KRYLITH_HD std::int64_t at(std::int64_t row) const {
        std::int64_t by = shift[0];
        for (int s = 1; s < max_row_segments; ++s)
            if (s < count && row >= begin[s]) by = shift[s];
        return row + by;
    }
};

} // namespace krylith
