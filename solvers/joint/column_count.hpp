// The numbers of columns that kernels for several right-hand sides exist for.
#pragma once

#include <string>
#include <type_traits>

#include <krylith/device/error.hpp>

namespace krylith {

/// Calls body with the number of columns as a constant. Throws usage_error for any other number.
template <class Body>
void with_columns(int columns, const Body& body) {
    switch (columns) {
    case 2: return body(std::integral_constant<int, 2>());
    case 4: return body(std::integral_constant<int, 4>());
    case 8: return body(std::integral_constant<int, 8>());
    case 16: return body(std::integral_constant<int, 16>());
    default:
        throw usage_error("kernels for several columns take 2, 4, 8 or 16, not " +
                          std::to_string(columns));
    }
}

} // namespace krylith
