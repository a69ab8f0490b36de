// The number of rows by length.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <krylith/matrix/types/index_width.hpp>

namespace krylith {

/// [most + 1] rows of each length up to `most`, that of the longest. Sums over it are the same
/// whatever the order of rows and threads.
inline std::vector<std::int64_t> length_histogram(std::span<const std::int64_t> offsets,
                                                  std::int64_t most) {
    std::vector<std::int64_t> rows(as_size(most) + 1, 0);
    for (std::size_t row = 0; row + 1 < offsets.size(); ++row)
        ++rows[as_size(offsets[row + 1] - offsets[row])];
    return rows;
}

} // namespace krylith
