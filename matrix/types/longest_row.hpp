// The longest row of a compressed matrix, found by the pass over its offsets that checks them:
// plans need it, and must not read all offsets again.
#pragma once

#include <cstdint>
#include <span>

#include <krylith/device/language/cxx20.hpp>

namespace krylith {

/// A row with most nonzeros, the first of several; row 0 with 0 where there is no row. validate()
/// returns it for a matrix that passes.
struct longest_row {
    std::int64_t row = 0;
    std::int64_t nonzeros = 0;

    friend bool operator==(const longest_row&, const longest_row&) = default;
};

/// The result of one pass over offsets.
struct offset_scan {
    std::int64_t first_descent = 0; ///< first row that ends before it starts; none: number of rows
    longest_row longest;            ///< of no use if there is such a row
};

/// Scans `row_offsets`, which has any values, and rows + 1 entries or none. O(rows), by all OpenMP
/// threads.
[[nodiscard]] offset_scan scan_offsets(std::span<const std::int64_t> row_offsets);

/// Finds the longest row of a matrix that nobody has validated; the offsets must not descend. It
/// costs as much as scan_offsets.
[[nodiscard]] longest_row find_longest_row(std::span<const std::int64_t> row_offsets);

} // namespace krylith
