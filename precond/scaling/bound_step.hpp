// The step that bounds the eigenvalues of D^-1/2 A D^-1/2 (device/loops/visit_rows.hpp has what a
// step is).
#pragma once

#include <cmath>
#include <cstdint>

#include <krylith/device/kernel/annotations.hpp>
#include <krylith/device/loops/shared_numbers.hpp>
#include <krylith/sparse/device_csr.hpp>

namespace krylith::detail {

/// Raises *bound, as bits, to s_i times the sum of |a_ij| s_j: Gershgorin's bound of S A S.
template <class T>
struct scaled_bound_step {
    device_csr_view<T> a;
    const double* s; ///< by local columns
    std::int64_t first_owned;
    unsigned long long* bound;

    using part_type = double;
    KRYLITH_HD static double join(double one, double other) { return one + other; }
    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    [[nodiscard]] KRYLITH_HD double part(std::int64_t row, int lane, int lanes) const {
        double sum = 0;
        for (std::int64_t k = a.offsets[row] + lane; k < a.offsets[row + 1]; k += lanes)
            sum += fabs(static_cast<double>(a.values[k])) * s[a.indices[k]];
        return sum;
    }
    KRYLITH_HD bool finish(std::int64_t row, double sum) const {
        const unsigned long long bits = ordered_bits(sum * s[first_owned + row]);
        if (load_shared(bound) < bits) raise_shared(bound, bits);
        return false;
    }
};

} // namespace krylith::detail
