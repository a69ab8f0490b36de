// Several vectors of one length, as files and solvers for several right-hand sides take them.
#pragma once

#include <cstdint>
#include <vector>

namespace krylith {

/// Columns that lie one after the other: entry (i, j) is values[j * rows + i].
template <class T>
struct dense_columns {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::vector<T> values; ///< [rows * columns]
};

} // namespace krylith
