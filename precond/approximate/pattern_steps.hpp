// Steps that choose the pattern of an approximate inverse of a matrix's pattern
// (device/loops/visit_rows.hpp has what a step is).
#pragma once

#include <cmath>
#include <cstdint>

#include <krylith/device/loops/shared_numbers.hpp>
#include <krylith/device/loops/visit_rows.hpp>
#include <krylith/precond/approximate/inverse_rows.hpp>
#include <krylith/precond/coarsening/rank_rows.hpp>

namespace krylith::detail {

/// Which entries of a row belong to the pattern. Rows ascend.
template <class T>
struct chosen_entries : writes_only {
    aggregation::rank_rows a;
    const T* values;
    bool lower;   ///< those up to the diagonal, which always belongs to it; else all
    double floor; ///< smaller values do not belong to it

    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }

    /// The end of the entries that may belong to it, besides the diagonal that is added.
    [[nodiscard]] KRYLITH_HD std::int64_t end_of(std::int64_t row) const {
        if (!lower) return a.offsets[row + 1];
        std::int64_t k = a.offsets[row];
        while (k < a.offsets[row + 1] && a.indices[k] < a.own(row)) ++k;
        return k;
    }
    [[nodiscard]] KRYLITH_HD bool belongs(std::int64_t k) const {
        return floor == 0 || std::fabs(static_cast<double>(values[k])) >= floor;
    }
    [[nodiscard]] KRYLITH_HD std::int64_t candidates(std::int64_t row) const {
        const std::int64_t end = end_of(row);
        if (floor == 0) return end - a.offsets[row];
        std::int64_t count = 0;
        for (std::int64_t k = a.offsets[row]; k < end; ++k) count += belongs(k);
        return count;
    }
    [[nodiscard]] KRYLITH_HD std::int64_t room() const { return longest_row - (lower ? 1 : 0); }

    [[nodiscard]] KRYLITH_HD unsigned long long size_of(std::int64_t k) const {
        return ordered_bits(std::fabs(static_cast<double>(values[k])));
    }

    /// The least size of which there is no more room for entries than are larger.
    [[nodiscard]] KRYLITH_HD unsigned long long least_size(std::int64_t first,
                                                           std::int64_t end) const {
        unsigned long long least = 0;
        for (int bit = 62; bit >= 0; --bit) {
            const unsigned long long higher = least | (1ull << bit);
            std::int64_t larger = 0;
            for (std::int64_t k = first; k < end; ++k) larger += size_of(k) >= higher;
            if (larger >= room()) least = higher;
        }
        return least;
    }
};

template <class T>
struct count_chosen_step : chosen_entries<T> {
    std::int32_t* counts;

    KRYLITH_HD bool finish(std::int64_t row, std::uint32_t) const {
        const std::int64_t count = this->candidates(row);
        counts[row] = static_cast<std::int32_t>((count < this->room() ? count : this->room()) +
                                                (this->lower ? 1 : 0));
        return false;
    }
};

/// Writes global columns. Where a row has more entries than there is room for, the largest stay,
/// of equal ones those in lower columns.
template <class T>
struct list_chosen_step : chosen_entries<T> {
    const std::int64_t* offsets;
    std::int32_t* columns;

    KRYLITH_HD bool finish(std::int64_t row, std::uint32_t) const {
        const aggregation::rank_rows& a = this->a;
        const std::int64_t first = a.offsets[row];
        const std::int64_t end = this->end_of(row);
        const bool all = this->candidates(row) <= this->room();
        const unsigned long long least = all ? 0 : this->least_size(first, end);
        std::int64_t ties = this->room();
        for (std::int64_t k = first; !all && k < end; ++k) ties -= this->size_of(k) > least;
        std::int64_t to = offsets[row];
        for (std::int64_t k = first; k < end; ++k) {
            if (all && !this->belongs(k)) continue;
            if (!all) {
                const unsigned long long size = this->size_of(k);
                if (size < least || (size == least && ties-- <= 0)) continue;
            }
            columns[to++] = static_cast<std::int32_t>(a.columns.global(a.indices[k]));
        }
        if (this->lower) columns[to] = static_cast<std::int32_t>(a.columns.global(a.own(row)));
        return false;
    }
};

/// The inverse roots of |a_ii|, by local column.
template <class T>
struct diagonal_root_step : writes_only {
    aggregation::rank_rows a;
    const T* values;
    double* roots;

    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    KRYLITH_HD bool finish(std::int64_t row, std::uint32_t) const {
        double diagonal = 0;
        for (std::int64_t k = a.offsets[row]; k < a.offsets[row + 1]; ++k)
            if (a.indices[k] == a.own(row)) diagonal += static_cast<double>(values[k]);
        roots[a.own(row)] = diagonal != 0 ? 1 / std::sqrt(std::fabs(diagonal)) : 0;
        return false;
    }
};

/// |a_ij| / sqrt(|a_ii a_jj|), 0 where that is below the floor.
template <class T>
struct coupling_step : writes_only {
    aggregation::rank_rows a;
    const T* values;
    const double* roots;
    double floor;
    T* couplings;

    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    KRYLITH_HD bool finish(std::int64_t row, std::uint32_t) const {
        const double own = roots[a.own(row)];
        for (std::int64_t k = a.offsets[row]; k < a.offsets[row + 1]; ++k) {
            const double size =
                std::fabs(static_cast<double>(values[k]) * own * roots[a.indices[k]]);
            couplings[k] = size >= floor ? static_cast<T>(size) : T(0);
        }
        return false;
    }
};

/// Finds the most entries of a row.
struct longest_row_step : writes_only {
    const std::int64_t* offsets;
    std::uint32_t* most;

    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    KRYLITH_HD bool finish(std::int64_t row, std::uint32_t) const {
        const auto count = static_cast<std::uint32_t>(offsets[row + 1] - offsets[row]);
        if (load_shared(most) < count) raise_shared(most, count);
        return false;
    }
};

} // namespace krylith::detail
