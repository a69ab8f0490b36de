// A quotient by a divisor that is known long before the dividend.
#pragma once

#include <cuda_runtime.h>

namespace krylith::cuda {

[[nodiscard]] __device__ inline bool within(double value, double least, double most) {
    return value >= least && value <= most;
}

/// value / divisor with the bits of the division, given 1 / divisor rounded to nearest: a product
/// and a correction by the remainder (Markstein, IBM J. Res. Dev. 34, 1990), three operations that
/// wait for each other in place of some thirty. Where a step could leave the normal numbers, it
/// divides.
[[nodiscard]] __device__ inline double exact_quotient(double value, double divisor,
                                                      double reciprocal) {
    const double quotient = value * reciprocal;
    const double corrected = fma(fma(-quotient, divisor, value), reciprocal, quotient);
    const bool safe = within(fabs(divisor), 1e-140, 1e140) && within(fabs(value), 1e-140, 1e140);
    return safe ? corrected : value / divisor;
}

[[nodiscard]] __device__ inline float exact_quotient(float value, float divisor, float reciprocal) {
    const float quotient = value * reciprocal;
    const float corrected = fmaf(fmaf(-quotient, divisor, value), reciprocal, quotient);
    const bool safe = within(fabsf(divisor), 1e-15, 1e15) && within(fabsf(value), 1e-15, 1e15);
    return safe ? corrected : value / divisor;
}

} // namespace krylith::cuda
