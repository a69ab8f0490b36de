// Values in half their bits: fp32 for double, 16 bits (sixteen_bits.hpp) for float. Included by .cu
// files only.
#pragma once

#include <cstdint>

#include <cuda_fp16.h>

#include <krylith/sparse/sell/sixteen_bits.hpp>

namespace krylith::cuda {

/// Whether two numbers are the same, 0 and -0 being two.
__device__ inline bool same_bits(double a, double b) {
    return __double_as_longlong(a) == __double_as_longlong(b);
}
__device__ inline bool same_bits(float a, float b) {
    return __float_as_int(a) == __float_as_int(b);
}

/// The 16 bits of a value that is apart: a NaN of fp16, and no NaN has 16 bits.
inline constexpr std::uint32_t apart_bits = 0xffff;

/// Returns the number that 16 bits stand for.
__device__ inline float of_sixteen_bits(std::uint32_t bits) {
    return __half2float(__ushort_as_half(static_cast<unsigned short>(bits))) * sixteen_bit_unit;
}

/// Returns the half of the bits that is nearest to a value.
__device__ inline std::uint32_t halved(double value) {
    return __float_as_uint(static_cast<float>(value));
}
__device__ inline std::uint32_t halved(float value) {
    return __half_as_ushort(__float2half_rn(value * (1 / sixteen_bit_unit)));
}

/// Whether these are the value, bit by bit.
__device__ inline bool is_exact(double value, std::uint32_t half) {
    return same_bits(static_cast<double>(__uint_as_float(half)), value);
}
__device__ inline bool is_exact(float value, std::uint32_t half) {
    return value == value && same_bits(of_sixteen_bits(half), value);
}
template <class T>
__device__ inline bool is_exact(T value) {
    return is_exact(value, halved(value));
}

} // namespace krylith::cuda
