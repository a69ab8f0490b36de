// Numbers that 16 bits can have: those of fp16 times 2^-12. They are of magnitude below 16, have 11
// bits down to 2^-26, and are multiples of 2^-36 below that: the range that matrices need whose
// diagonal is about 1.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include <krylith/device/kernel/annotations.hpp>

namespace krylith {

inline constexpr float sixteen_bit_unit = 1.0f / 4096;
inline constexpr float most_in_sixteen_bits = 65504 * sixteen_bit_unit;
/// The least number with 11 bits, the least normal one of fp16.
inline constexpr float least_of_eleven_bits = sixteen_bit_unit / 16384;

[[nodiscard]] KRYLITH_HD inline std::uint32_t bits_of_float(float value) {
#ifdef __CUDA_ARCH__
    return __float_as_uint(value);
#else
    return std::bit_cast<std::uint32_t>(value);
#endif
}

[[nodiscard]] KRYLITH_HD inline float float_of_bits(std::uint32_t bits) {
#ifdef __CUDA_ARCH__
    return __uint_as_float(bits);
#else
    return std::bit_cast<float>(bits);
#endif
}

/// Returns the nearest of them, of two the even one. NaN and what is larger than all stay.
[[nodiscard]] KRYLITH_HD inline float rounded_to_sixteen_bits(float value) {
    const float size = std::fabs(value);
    if (!(size <= most_in_sixteen_bits)) return value;
    if (size < least_of_eleven_bits) {
        // Near `one_and_a_half` numbers of fp32 are multiples of 2^-36, as those wanted are.
        constexpr float one_and_a_half = 1.5f / 8192;
        return std::copysign(size + one_and_a_half - one_and_a_half, value);
    }
    constexpr std::uint32_t dropped = 13; // of 24 bits
    constexpr std::uint32_t unit = std::uint32_t{1} << dropped;
    const std::uint32_t bits = bits_of_float(value);
    return float_of_bits((bits + unit / 2 - 1 + (bits >> dropped & 1)) & ~(unit - 1));
}

} // namespace krylith
