// The numbers of columns that there are kernels for: vectors of k columns lie row by row, entry
// (i, j) is number i k + j, so that one nonzero is read once and multiplies k neighbours.
#pragma once

#include <string>
#include <type_traits>

#include <krylith/device/error.hpp>

namespace krylith {

/// The most columns that one kernel takes; there are kernels for 2, 4, 8 and 16.
inline constexpr int max_columns = 16;

/// Throws usage_error for other numbers of columns.
inline void check_columns(int columns) {
    if (columns != 2 && columns != 4 && columns != 8 && columns != 16)
        throw usage_error("kernels for several columns take 2, 4, 8 or 16, not " +
                          std::to_string(columns));
}

/// Calls body with the number of columns as a constant. Throws usage_error for others.
template <class Body>
void with_columns(int columns, const Body& body) {
    check_columns(columns);
    switch (columns) {
    case 2: return body(std::integral_constant<int, 2>());
    case 4: return body(std::integral_constant<int, 4>());
    case 8: return body(std::integral_constant<int, 8>());
    default: return body(std::integral_constant<int, 16>());
    }
}

} // namespace krylith
