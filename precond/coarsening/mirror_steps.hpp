// Steps that put a matrix and its transpose together: one row at a time, on hosts and GPUs.
#pragma once

#include <cmath>
#include <cstdint>

#include <krylith/device/loops/visit_rows.hpp>
#include <krylith/precond/coarsening/rank_rows.hpp>

namespace krylith::aggregation {

/// A row of A and the same row of A', whose columns ascend. Couplings are not used.
struct mirrored_rows {
    rank_rows a;
    rank_rows t;

    /// Calls body(global column, entry of A or -1, entry of A' or -1) in the order of columns, and
    /// returns the number of columns.
    template <class Body>
    KRYLITH_HD std::int64_t each(std::int64_t row, const Body& body) const {
        constexpr std::int64_t none = INT64_MAX;
        std::int64_t k = a.offsets[row];
        std::int64_t l = t.offsets[row];
        const std::int64_t a_end = a.offsets[row + 1];
        const std::int64_t t_end = t.offsets[row + 1];
        std::int64_t count = 0;
        while (k < a_end || l < t_end) {
            const std::int64_t of_a = k < a_end ? a.columns.global(a.indices[k]) : none;
            const std::int64_t of_t = l < t_end ? t.columns.global(t.indices[l]) : none;
            const std::int64_t column = of_a < of_t ? of_a : of_t;
            body(column, of_a == column ? k : -1, of_t == column ? l : -1);
            k += of_a == column ? 1 : 0;
            l += of_t == column ? 1 : 0;
            ++count;
        }
        return count;
    }
};

struct count_mirror_step : writes_only {
    mirrored_rows rows;
    std::int32_t* counts;

    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    KRYLITH_HD bool finish(std::int64_t row, std::uint32_t) const {
        counts[row] = static_cast<std::int32_t>(
            rows.each(row, [](std::int64_t, std::int64_t, std::int64_t) {}));
        return false;
    }
};

/// Writes global columns, unless they are known, and the larger magnitude of a_ij and a_ji,
/// positive where both are and else negative, with a_ii on the diagonal, or the entries of A'.
template <class T>
struct fill_mirror_step : writes_only {
    mirrored_rows rows;
    const T* values;     ///< of A
    const T* transposed; ///< of A'
    bool largest;
    const std::int64_t* offsets; ///< of the result
    std::int32_t* columns;       ///< null: known
    T* to;

    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    KRYLITH_HD bool finish(std::int64_t row, std::uint32_t) const {
        std::int64_t at = offsets[row];
        const std::int64_t own = rows.a.columns.global(rows.a.own(row));
        rows.each(row, [&](std::int64_t column, std::int64_t k, std::int64_t l) {
            const T here = k < 0 ? T(0) : values[k];
            const T there = l < 0 ? T(0) : transposed[l];
            if (columns != nullptr) columns[at] = static_cast<std::int32_t>(column);
            const T larger = std::fabs(here) > std::fabs(there) ? here : there;
            const T magnitude = std::fabs(larger);
            const T both = here > T(0) && there > T(0) ? magnitude : -magnitude;
            to[at++] = !largest ? there : column == own ? here : both;
        });
        return false;
    }
};

} // namespace krylith::aggregation
