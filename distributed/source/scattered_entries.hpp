// How many nonzeros of a pattern read an entry of x that no nearby row needs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <krylith/partition/row_partition.hpp>

namespace krylith {

/// The unit of memory accesses.
inline constexpr int sector_bytes = 32;

/// The most nonzeros of a row that are looked at.
inline constexpr std::int64_t most_sampled_entries = 32;

/// Returns the rows that are sampled of a range: each is compared with the one after it.
[[nodiscard]] std::vector<std::int64_t> sampled_rows(row_range rows);

/// The first columns of a sampled row, and of the one after it: at most most_sampled_entries.
struct sampled_pair {
    std::span<const std::int32_t> row;
    std::span<const std::int32_t> next;
};

/// Returns the fraction of scattered nonzeros in a sample of the rows (measure_pattern()).
[[nodiscard]] double scattered_fraction(std::span<const sampled_pair> sample,
                                        std::int64_t value_bytes);

/// Returns the same of rows in host memory.
[[nodiscard]] double scattered_fraction(row_range rows, std::span<const std::int64_t> row_offsets,
                                        std::span<const std::int32_t> column_indices,
                                        std::int64_t value_bytes);

} // namespace krylith
