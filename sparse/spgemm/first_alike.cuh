// Where rows that repeat others find their columns.
#pragma once

#include <cstdint>

namespace krylith::cuda {

/// The first of the rows whose columns a row has.
[[nodiscard]] __device__ inline std::int64_t first_alike(const std::uint8_t* repeats,
                                                         std::int64_t row) {
    while (repeats[row] != 0) --row;
    return row;
}

} // namespace krylith::cuda
