// The order of a few columns of a product's row on the host.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace krylith::host {

/// So many columns are compared at once, those of the processor's vectors: compilers take longer
/// ones apart, number by number.
#if defined(__AVX512F__)
inline constexpr std::size_t column_lanes = 16;
#elif defined(__AVX2__)
inline constexpr std::size_t column_lanes = 8;
#else
inline constexpr std::size_t column_lanes = 4;
#endif

/// Calls put(k, place) for each of `count` different columns with the number of smaller ones, in
/// O(count^2 / column_lanes). There is memory for column_lanes columns more.
template <class Put>
void for_each_rank(const std::int32_t* columns, std::size_t count, const Put& put) {
    using number_lanes [[gnu::vector_size(column_lanes * sizeof(std::int32_t))]] = std::int32_t;
    for (std::size_t begin = 0; begin < count; begin += column_lanes) {
        number_lanes own;
        std::memcpy(&own, columns + begin, sizeof own);
        number_lanes place = {};
        for (std::size_t j = 0; j < count; ++j) place -= columns[j] < own; // true is -1
        const std::size_t end = std::min(count - begin, column_lanes);
        for (std::size_t k = 0; k < end; ++k) put(begin + k, place[k]);
    }
}

} // namespace krylith::host
