// The widths of the project's indices: rows and columns of a matrix 32 bits, nonzeros 64, signed.
// Sizes are narrowed here alone, with a check.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

namespace krylith {

/// The most rows or columns that a 32-bit row or column index can address.
inline constexpr std::int64_t index_limit = std::numeric_limits<std::int32_t>::max();

/// A size or position known not to be negative, in the type of the standard containers.
[[nodiscard]] constexpr std::size_t as_size(std::int64_t known_not_negative) noexcept {
    return static_cast<std::size_t>(known_not_negative);
}

/// The limit in force: index_limit, or less while a test mocks it. Sizes that 32-bit indices will
/// address are compared with this before they are narrowed.
[[nodiscard]] std::int64_t index_size_limit() noexcept;

/// Throws input_error "WHAT is SIZE, allowed are 0 to LIMIT" for a size that 32-bit indices can't
/// address.
void check_index_size(std::string_view what, std::int64_t size);

/// The size in 32 bits; throws like check_index_size.
[[nodiscard]] std::int32_t narrow_index_size(std::string_view what, std::int64_t size);

} // namespace krylith
