// Room for the columns of rows that are counted, so that they need not be found again.
#pragma once

#include <cstdint>

namespace krylith::cuda {

/// Columns that are found as rows are counted, in any order of rows.
struct column_pool {
    std::int32_t* columns;
    unsigned long long capacity;
    unsigned long long* used; ///< also of rows that found no room
    std::uint32_t* kept;      ///< [rows] 1 more than where a row's begin; 0: they are not here

    /// Room for the columns of a row, which one thread asks for; `capacity` where there is none.
    [[nodiscard]] __device__ unsigned long long take(std::int64_t row, int columns_of_row) const {
        const auto count = static_cast<unsigned long long>(columns_of_row);
        const unsigned long long place = atomicAdd(used, count);
        if (capacity == 0 || place + count > capacity) return capacity;
        kept[row] = static_cast<std::uint32_t>(place + 1);
        return place;
    }
};

} // namespace krylith::cuda
