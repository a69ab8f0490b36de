// The order in which the entries of a coordinate matrix lie.
#pragma once

#include <cstdint>
#include <span>

namespace krylith {

/// What is sorted both ways counts as by rows.
enum class coo_order {
    by_rows,    ///< rows never descend; columns within them may be in any order
    by_columns, ///< columns never descend
    unsorted
};

/// "by rows", "by columns", "unsorted".
[[nodiscard]] const char* to_string(coo_order order) noexcept;

/// One pass over both arrays, by all OpenMP threads. Throws usage_error if sizes disagree.
[[nodiscard]] coo_order find_coo_order(std::span<const std::int32_t> row_indices,
                                       std::span<const std::int32_t> column_indices);

} // namespace krylith
