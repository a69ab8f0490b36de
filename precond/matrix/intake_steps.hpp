// Steps that look at a matrix before a preconditioner is made of it
// (device/loops/visit_rows.hpp has what a step is).
#pragma once

#include <cstdint>

#include <krylith/device/kernel/annotations.hpp>
#include <krylith/device/loops/shared_numbers.hpp>
#include <krylith/precond/coarsening/rank_rows.hpp>
#include <krylith/precond/colouring/colour_steps.hpp>

namespace krylith::detail {

/// Rows add to so many counters in turn: additions to one address follow one another.
inline constexpr std::int64_t row_counters = 1024;

/// Adds up a hash of each entry's row and column, modulo 2^64.
struct hash_entries_step {
    aggregation::rank_rows a;
    std::int64_t first;       ///< row of the rank
    unsigned long long* sums; ///< [row_counters]

    using part_type = unsigned long long;
    KRYLITH_HD static part_type join(part_type one, part_type other) { return one + other; }
    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    [[nodiscard]] KRYLITH_HD part_type part(std::int64_t row, int lane, int lanes) const {
        part_type sum = 0;
        for (std::int64_t k = a.offsets[row] + lane; k < a.offsets[row + 1]; k += lanes)
            sum += colouring::entry_hash(first + row, a.columns.global(a.indices[k]));
        return sum;
    }
    KRYLITH_HD bool finish(std::int64_t row, part_type sum) const {
        add_shared(sums + row % row_counters, sum);
        return false;
    }
};

/// The bits of the largest finite magnitude, and the complement of those of the smallest that is
/// not 0: both are maxima, 0 where there is no such entry.
struct magnitude_bits {
    unsigned long long largest = 0;
    unsigned long long smallest = 0;

    KRYLITH_HD void take(const magnitude_bits& other) {
        largest = largest < other.largest ? other.largest : largest;
        smallest = smallest < other.smallest ? other.smallest : smallest;
    }
};

/// Finds the range of magnitudes.
template <class T>
struct magnitudes_of_rows_step {
    const std::int64_t* offsets;
    const T* values;
    magnitude_bits* found; ///< [row_counters]

    using part_type = magnitude_bits;
    KRYLITH_HD static part_type join(part_type one, const part_type& other) {
        one.take(other);
        return one;
    }
    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    [[nodiscard]] KRYLITH_HD part_type part(std::int64_t row, int lane, int lanes) const {
        part_type part;
        for (std::int64_t k = offsets[row] + lane; k < offsets[row + 1]; k += lanes) {
            const auto value = static_cast<double>(values[k]);
            if (value == 0 || value - value != 0) continue;
            const unsigned long long bits = ordered_bits(value < 0 ? -value : value);
            part.take({bits, ~bits});
        }
        return part;
    }
    KRYLITH_HD bool finish(std::int64_t row, const part_type& part) const {
        magnitude_bits* const to = found + row % row_counters;
        if (load_shared(&to->largest) < part.largest) raise_shared(&to->largest, part.largest);
        if (load_shared(&to->smallest) < part.smallest) raise_shared(&to->smallest, part.smallest);
        return false;
    }
};

} // namespace krylith::detail
