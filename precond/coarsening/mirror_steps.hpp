// Steps that put a matrix and its transpose together: one row at a time, on hosts and GPUs.
#pragma once

#include <cmath>
#include <cstdint>

#include <krylith/device/loops/visit_rows.hpp>
#include <krylith/distributed/products/merged_rows.hpp>

namespace krylith::aggregation {

/// Writes the larger magnitude of a_ij and a_ji, positive where both are and else negative, with
/// a_ii on the diagonal, or the entries of A'.
template <class T>
struct fill_mirror_step : writes_only {
    merged_rows rows;    ///< of A and A', which are square
    const T* values;     ///< of A
    const T* transposed; ///< of A'
    bool largest;
    merged_entries<T> to;

    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    KRYLITH_HD bool finish(std::int64_t row, std::uint32_t) const {
        std::int64_t at = to.offsets[row];
        const std::int64_t own = rows.a.columns.first_owned + row;
        rows.each(row, [&](std::int64_t column, std::int64_t k, std::int64_t l) {
            const T here = k < 0 ? T(0) : values[k];
            const T there = l < 0 ? T(0) : transposed[l];
            const T larger = std::fabs(here) > std::fabs(there) ? here : there;
            const T magnitude = std::fabs(larger);
            const T both = here > T(0) && there > T(0) ? magnitude : -magnitude;
            to.write(at++, column, !largest ? there : column == own ? here : both);
        });
        return false;
    }
};

} // namespace krylith::aggregation
