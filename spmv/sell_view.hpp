// A SELL-32 block as kernels see it.
#pragma once

#include <cstdint>

namespace krylith {

template <class T>
struct sell_view {
    const std::int64_t* slice_offsets;
    const std::int32_t* columns; ///< -1: padding
    const T* values;
    const std::int32_t* rows;  ///< or null
    const std::int32_t* order; ///< or null
    std::int64_t row_count;
    std::int32_t slices;
    std::int32_t groups;
    std::int32_t interior;
};

} // namespace krylith
