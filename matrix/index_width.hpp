// The widths of the project's indices: rows and columns of a matrix 32 bits, nonzeros 64, signed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace krylith {

/// The most rows or columns that a 32-bit row or column index can address.
inline constexpr std::int64_t index_limit = std::numeric_limits<std::int32_t>::max();

/// A size or position known not to be negative, as the standard containers want it.
[[nodiscard]] constexpr std::size_t as_size(std::int64_t known_not_negative) noexcept {
    return static_cast<std::size_t>(known_not_negative);
}

} // namespace krylith
