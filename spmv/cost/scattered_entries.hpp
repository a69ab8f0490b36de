// How many nonzeros of a pattern read an entry of x that no nearby row needs.
#pragma once

#include <cstdint>
#include <span>

#include <krylith/partition/row_partition.hpp>

namespace krylith {

/// The unit of memory accesses.
inline constexpr int sector_bytes = 32;

/// Returns the fraction of scattered nonzeros in a sample of the rows (measure_pattern()).
[[nodiscard]] double scattered_fraction(row_range rows, std::span<const std::int64_t> row_offsets,
                                        std::span<const std::int32_t> column_indices,
                                        std::int64_t value_bytes);

} // namespace krylith
