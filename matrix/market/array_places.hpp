// Where the values of an array file stand in the matrix.
#pragma once

#include <cstdint>
#include <span>

#include <krylith/matrix/market/header.hpp>

namespace krylith::market {

/// Calls use(row, column, value) for those that aren't 0 of consecutive values of an array file,
/// which lists a matrix, or its lower half, column by column. `first` values stand before them.
template <class T, class Use>
void for_each_nonzero(std::span<const T> values, const header& h, std::int64_t first,
                      const Use& use) {
    const auto first_row = [&](std::int64_t column) {
        return h.symmetry == symmetry::general     ? 0
               : h.symmetry == symmetry::symmetric ? column
                                                   : column + 1;
    };
    const T* value = values.data();
    const T* const end = value + values.size();
    for (std::int64_t column = 0; value != end; ++column) {
        const std::int64_t begin = first_row(column);
        if (first >= h.rows - begin) {
            first -= h.rows - begin;
            continue;
        }
        for (std::int64_t row = begin + first; row < h.rows && value != end; ++row, ++value) {
            if (*value != T(0)) {
                use(row, column, *value);
            }
        }
        first = 0;
    }
}

} // namespace krylith::market
