// Steps that cut the rows of a block to its own columns (device/loops/visit_rows.hpp has what
// a step is).
#pragma once

#include <cstdint>

#include <krylith/device/loops/visit_rows.hpp>
#include <krylith/distributed/source/local_columns.hpp>

namespace krylith::detail {

/// Rows with global columns, which ascend, and the columns that stay.
struct cut_rows {
    const std::int64_t* offsets;
    const std::int32_t* columns;
    column_numbers stay;

    /// The local number of a global column; -1 where it doesn't stay.
    [[nodiscard]] KRYLITH_HD std::int32_t local(std::int32_t global) const {
        const std::int32_t count = stay.owned + stay.ghost_count;
        if (count == 0) return -1;
        const std::int32_t number = stay.local(global);
        return number < count && stay.global(number) == global ? number : -1;
    }
};

/// Counts the entries of a row that stay.
struct count_staying_step {
    cut_rows rows;
    std::int32_t* counts;

    using part_type = std::int32_t;
    KRYLITH_HD static std::int32_t join(std::int32_t one, std::int32_t other) {
        return one + other;
    }
    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    [[nodiscard]] KRYLITH_HD std::int32_t part(std::int64_t row, int lane, int lanes) const {
        std::int32_t found = 0;
        for (std::int64_t k = rows.offsets[row] + lane; k < rows.offsets[row + 1]; k += lanes)
            found += rows.local(rows.columns[k]) >= 0 ? 1 : 0;
        return found;
    }
    KRYLITH_HD bool finish(std::int64_t row, std::int32_t found) const {
        counts[row] = found;
        return false;
    }
};

/// Writes them with local columns, which ascend as the global ones do. One lane a row: blocks are
/// made once.
template <class T>
struct keep_staying_step : writes_only {
    cut_rows rows;
    const T* from;
    const std::int64_t* offsets; ///< of what stays
    std::int32_t* columns;
    T* values;

    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    KRYLITH_HD bool finish(std::int64_t row, std::uint32_t) const {
        std::int64_t to = offsets[row];
        for (std::int64_t k = rows.offsets[row]; k < rows.offsets[row + 1]; ++k) {
            const std::int32_t column = rows.local(rows.columns[k]);
            if (column < 0) continue;
            columns[to] = column;
            values[to] = from[k];
            ++to;
        }
        return false;
    }
};

} // namespace krylith::detail
