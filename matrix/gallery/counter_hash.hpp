// Random numbers that are a function of a seed and of where they are used: the same on every
// machine, compiler and number of threads (the distributions of <random> are not).
#pragma once

#include <cstdint>

#include <krylith/device/kernel/annotations.hpp>

namespace krylith {

/// The mixing function of SplitMix64 (Steele, Lea, Flood 2014, with the constants of Stafford's
/// variant 13). Applied to x + k golden_step, k = 0, 1, ..., it is that generator from state x on.
[[nodiscard]] KRYLITH_HD constexpr std::uint64_t mix_bits(std::uint64_t x) noexcept {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

inline constexpr std::uint64_t golden_step = 0x9e3779b97f4a7c15;

/// 64 bits that look independent of those of any other (seed, a, b).
[[nodiscard]] KRYLITH_HD constexpr std::uint64_t counter_hash(std::uint64_t seed, std::uint64_t a,
                                                              std::uint64_t b = 0) noexcept {
    const std::uint64_t with_a = mix_bits(seed + golden_step) ^ (a + golden_step);
    return mix_bits(mix_bits(with_a) ^ (b + golden_step));
}

/// The upper 53 bits as a number in [0, 1), exact.
[[nodiscard]] KRYLITH_HD constexpr double unit_interval(std::uint64_t bits) noexcept {
    return static_cast<double>(bits >> 11) * 0x1p-53;
}

} // namespace krylith
