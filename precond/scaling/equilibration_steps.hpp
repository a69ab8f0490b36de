// Steps that find the S of equilibration, in logarithms, which have no range to leave
// (device/loops/visit_rows.hpp and run_items.hpp have what a step and a task are).
#pragma once

#include <cmath>
#include <cstdint>

#include <krylith/device/kernel/annotations.hpp>
#include <krylith/device/loops/shared_numbers.hpp>

namespace krylith::detail {

/// log2 |v|; below that of any number where v is 0 or not finite.
template <class T>
struct magnitude_log_task {
    const T* values;
    double* logs;

    static constexpr double nothing = -1e30;

    KRYLITH_HD void operator()(std::int64_t k) const {
        const double size = fabs(static_cast<double>(values[k]));
        logs[k] = size > 0 && size - size == 0 ? log2(size) : nothing;
    }
};

/// Finds the largest log2 of |a_ij| s_j in row i, or raises what is there to it.
struct largest_of_row_step {
    const std::int64_t* offsets;
    const std::int32_t* indices;
    const double* logs; ///< of the entries
    const double* s;    ///< by local columns
    double* largest;    ///< by rows
    bool raises;

    using part_type = double;
    KRYLITH_HD static double join(double one, double other) { return one < other ? other : one; }
    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    [[nodiscard]] KRYLITH_HD double part(std::int64_t row, int lane, int lanes) const {
        double most = magnitude_log_task<double>::nothing;
        for (std::int64_t k = offsets[row] + lane; k < offsets[row + 1]; k += lanes)
            most = join(most, logs[k] + s[indices[k]]);
        return most;
    }
    KRYLITH_HD bool finish(std::int64_t row, double most) const {
        largest[row] = raises ? join(largest[row], most) : most;
        return false;
    }
};

/// Halves the distance of the largest of a row and its column from 1.
struct halve_distance_task {
    const double* largest;
    double* s; ///< by rows
    double* t; ///< the same, for A'

    KRYLITH_HD void operator()(std::int64_t row) const {
        if (largest[row] > magnitude_log_task<double>::nothing / 2)
            s[row] -= (largest[row] + s[row]) / 2;
        t[row] = s[row];
    }
};

/// Finds the largest log2 s_i, as the bits of s_i + above.
struct largest_log_task {
    const double* s;
    unsigned long long* found; ///< [counters]

    static constexpr double above = 8192;          ///< no log2 of a number is as far below 0
    static constexpr std::int64_t counters = 1024; ///< rows raise them in turn

    KRYLITH_HD void operator()(std::int64_t row) const {
        const unsigned long long bits = ordered_bits(s[row] + above);
        unsigned long long* const to = found + row % counters;
        if (load_shared(to) < bits) raise_shared(to, bits);
    }
};

/// to_i = 2^(2 log2 s_i + k), but no less than 2^least.
template <class T>
struct square_task {
    const double* s;
    double k;
    double least;
    T* to;

    KRYLITH_HD void operator()(std::int64_t row) const {
        const double log = 2 * s[row] + k;
        to[row] = static_cast<T>(exp2(log > least ? log : least));
    }
};

} // namespace krylith::detail
