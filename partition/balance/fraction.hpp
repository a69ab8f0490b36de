// Fractions of a whole number that don't overflow.
#pragma once

#include <cstdint>

namespace krylith {

/// Returns floor(total * part / whole), though the product may need more than 64 bits. total >= 0,
/// 0 <= part <= whole, 1 <= whole <= 2^31 - 1.
[[nodiscard]] constexpr std::int64_t fraction_of(std::int64_t total, std::int64_t part,
                                                 std::int64_t whole) noexcept {
    return total / whole * part + total % whole * part / whole;
}

} // namespace krylith
