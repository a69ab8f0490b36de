// Inverts a diagonal in place.
#pragma once

#include <cstdint>

#include <krylith/device/loops/backend_choice.hpp>

namespace krylith {

/// What an inversion found. It lies in device memory and must be zero before. Both fields are
/// maxima, so that threads may report in any order.
struct inversion_report {
    std::uint64_t bad;      ///< 2^64 - 1 - i, where i is the first entry without a finite inverse;
                            ///< 0: none
    std::uint64_t exponent; ///< exponent_bias + the largest ilogb of an inverse; 0: all are zero

    static constexpr std::int64_t exponent_bias = 8192;
};

KRYLITH_HOST_AND_CUDA(
    /// Enqueues d[i] = 1 / d[i] for i < count. An entry that isn't finite, or has no finite
    /// inverse, stays as it is and is reported.
    template <class T>
    void invert_diagonal(device& device, T* d, std::int64_t count, inversion_report* report);)

} // namespace krylith
