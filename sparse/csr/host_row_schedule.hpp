// The order in which a team of threads multiplies the rows of a block, and the chunks of them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace krylith::host {

struct row_range {
    std::int64_t begin;
    std::int64_t end;
};

/// The rows of the interior, then those of the boundary, in chunks of about equally many rows.
/// Chunks depend on the block only, not on the team, so that sums over chunks have the same bits
/// with any team.
struct row_schedule {
    std::vector<row_range> ranges;          ///< those of chunk 0, of chunk 1, ...
    std::vector<std::int64_t> first_range;  ///< [chunks + 1] into ranges
    std::vector<std::int64_t> items_before; ///< [chunks + 1] rows and nonzeros in earlier chunks,
                                            ///< but those of giant rows
    std::int64_t interior = 0;              ///< chunks of the interior; they come first

    [[nodiscard]] std::int64_t chunks() const {
        return static_cast<std::int64_t>(items_before.size()) - 1;
    }
};

/// Makes at most reduction_chunks chunks. `boundary` is empty or has an entry for each row: not 0
/// where the row is of the boundary. `giants` are rows that count as empty, ascending.
[[nodiscard]] row_schedule make_row_schedule(std::span<const std::int64_t> offsets,
                                             std::span<const std::uint8_t> boundary,
                                             std::span<const std::int64_t> giants = {});

} // namespace krylith::host
