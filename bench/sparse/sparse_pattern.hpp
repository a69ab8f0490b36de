// The few facts of a pattern against which times are drawn.
#pragma once

#include <cstdint>
#include <span>

namespace krylith::bench {

struct pattern_facts {
    double mean_row = 0;          ///< nonzeros a row
    std::int64_t longest_row = 0; ///< nonzeros
    double skew = 0;              ///< the deviation of row lengths over their mean
    /// The mean of |column / columns - row / rows| over the nonzeros: 0 near the diagonal, 1/3 for
    /// columns that are random.
    double spread = 0;
};

/// O(nnz), by all threads; the same on any number of them up to rounding.
[[nodiscard]] pattern_facts facts_of(std::span<const std::int64_t> offsets,
                                     std::span<const std::int32_t> indices, std::int64_t columns);

} // namespace krylith::bench
