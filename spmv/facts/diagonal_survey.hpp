// What one device computes for the facts of an operator: signs and sizes of a diagonal, the scaling
// that evens it out, and pseudo-random vectors.
#pragma once

#include <cstdint>

#include <krylith/device/loops/backend_choice.hpp>

namespace krylith {

/// Signs and sizes of diagonal entries. Sizes are bits of |d| as a double, which ascend as the
/// numbers do. All fields are counts or maxima, so that threads may report in any order.
struct diagonal_counts {
    std::uint64_t positive;         ///< entries above 0 whose inverse is finite
    std::uint64_t negative;         ///< the same below 0
    std::uint64_t not_finite;       ///< entries not 0 that aren't finite, or have no finite inverse
    std::uint64_t largest_positive; ///< 0: none
    std::uint64_t largest_negative;
    std::uint64_t smallest_positive; ///< the complement of the bits; 0: none
    std::uint64_t smallest_negative;
};

/// Entries that a device holds. Those of other ranks, before `first` and from `last` on, are scaled
/// but not counted.
template <class T>
struct held_diagonal {
    T* entries;
    std::int64_t count;
    std::int64_t first;
    std::int64_t last;
};

KRYLITH_HOST_AND_CUDA(
    /// Enqueues the survey. Each entry d becomes 1 / sqrt|d|; 1 where that isn't finite or d is 0.
    /// `counts` lies in device memory and is zero before.
    template <class T> void survey_diagonal(device& device, const held_diagonal<T>& diagonal,
                                            diagonal_counts* counts);)

} // namespace krylith
