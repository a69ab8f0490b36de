// The step that finds which aggregates of other ranks a rank's rows refer to.
#pragma once

#include <cstdint>

#include <krylith/device/loops/shared_numbers.hpp>
#include <krylith/device/loops/visit_rows.hpp>

namespace krylith::aggregation {

/// Raises ends[0] to all - g and ends[1] to g + 1 for the aggregates g of other ranks; both are 0
/// before.
struct used_step : writes_only {
    const std::int32_t* aggregate; ///< [rows]
    std::int32_t first;            ///< the rank's own aggregates are [first, end)
    std::int32_t end;
    std::int32_t all; ///< aggregates
    std::int32_t* ends;

    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t row) const {
        const std::int32_t g = aggregate[row];
        return g >= 0 && (g < first || g >= end);
    }
    KRYLITH_HD bool finish(std::int64_t row, std::uint32_t) const {
        const std::int32_t g = aggregate[row];
        if (all - g > load_shared(ends)) raise_shared(ends, all - g);
        if (g + 1 > load_shared(ends + 1)) raise_shared(ends + 1, g + 1);
        return false;
    }
};

} // namespace krylith::aggregation
