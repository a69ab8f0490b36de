// Adds up diagonal_counts, and makes probes, on host and device.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include <krylith/device/kernel/annotations.hpp>
#include <krylith/matrix/gallery/counter_hash.hpp>
#include <krylith/spmv/facts/diagonal_survey.hpp>

namespace krylith {

KRYLITH_HD inline void raise_to(std::uint64_t& most, std::uint64_t value) {
    if (value > most) most = value;
}

/// The bits of |value|.
[[nodiscard]] KRYLITH_HD inline std::uint64_t size_bits(double value) {
#ifdef __CUDA_ARCH__
    return static_cast<std::uint64_t>(__double_as_longlong(fabs(value)));
#else
    return std::bit_cast<std::uint64_t>(std::fabs(value));
#endif
}

template <class T>
[[nodiscard]] KRYLITH_HD bool has_finite_inverse(T d) {
    using std::isfinite;
    return isfinite(d) && isfinite(T(1) / d);
}

template <class T>
KRYLITH_HD void tally(diagonal_counts& counts, T d) {
    if (d == T(0)) return;
    if (!has_finite_inverse(d)) {
        ++counts.not_finite;
        return;
    }
    const std::uint64_t size = size_bits(static_cast<double>(d));
    if (d > T(0)) {
        ++counts.positive;
        raise_to(counts.largest_positive, size);
        raise_to(counts.smallest_positive, ~size);
    } else {
        ++counts.negative;
        raise_to(counts.largest_negative, size);
        raise_to(counts.smallest_negative, ~size);
    }
}

/// Returns 1 / sqrt|d|, and 1 where that is no use.
template <class T>
[[nodiscard]] KRYLITH_HD T probe_scale(T d) {
    using std::sqrt;
    const T size = d < T(0) ? -d : d;
    return has_finite_inverse(d) ? T(1) / sqrt(size) : T(1);
}

/// Returns a number in [-1, 1).
[[nodiscard]] KRYLITH_HD inline double probe_value(std::uint64_t seed, std::int64_t row) {
    return 2 * unit_interval(counter_hash(seed, static_cast<std::uint64_t>(row))) - 1;
}

/// x[i] = scale[i] u, where u in [-1, 1) is a function of the seed and of row first_row + i; a null
/// scale is 1.
template <class T>
struct probe_task {
    T* x;
    const T* scale;
    std::int64_t first_row;
    std::uint64_t seed;
    KRYLITH_HD void operator()(std::int64_t i) const {
        const auto value = static_cast<T>(probe_value(seed, first_row + i));
        x[i] = scale == nullptr ? value : scale[i] * value;
    }
};

} // namespace krylith
