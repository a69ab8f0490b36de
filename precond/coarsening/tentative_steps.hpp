// Steps that make the tentative prolongation T, one number a row, of a near-null vector.
//
// The squares of an aggregate's entries are added up as integers, in units of 2^-32 of the largest,
// so that its norm has the same bits however rows lie on devices.
#pragma once

#include <cmath>
#include <cstdint>

#include <krylith/device/loops/shared_numbers.hpp>
#include <krylith/device/loops/visit_rows.hpp>

namespace krylith::aggregation {

using wide = unsigned long long;

/// The largest magnitudes of aggregates, as bits; 0 before.
template <class T>
struct magnitude_step : writes_only {
    const std::int32_t* aggregate; ///< [rows]
    const T* v;                    ///< [rows]
    wide* largest;                 ///< of each aggregate

    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t row) const { return aggregate[row] >= 0; }
    KRYLITH_HD bool finish(std::int64_t row, std::uint32_t) const {
        wide* const to = largest + aggregate[row];
        const wide bits = ordered_bits(static_cast<double>(std::fabs(v[row])));
        if (bits > load_shared(to)) raise_shared(to, bits);
        return false;
    }
};

/// The sums of squares; 0 before.
template <class T>
struct square_step : writes_only {
    const std::int32_t* aggregate;
    const T* v;
    const wide* largest;
    wide* squares;

    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t row) const { return aggregate[row] >= 0; }
    KRYLITH_HD bool finish(std::int64_t row, std::uint32_t) const {
        const double most = number_of_bits(largest[aggregate[row]]);
        const double x = most > 0 ? static_cast<double>(v[row]) / most : 0.0;
        const double units = x * x * 4294967296.0;
        add_shared(squares + aggregate[row], static_cast<wide>(units));
        return false;
    }
};

/// The norms of aggregates, which are the coarse near-null vector.
template <class T>
struct norm_step : writes_only {
    const wide* largest;
    const wide* squares;
    T* norm;

    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    KRYLITH_HD bool finish(std::int64_t g, std::uint32_t) const {
        const double most = number_of_bits(largest[g]);
        norm[g] = static_cast<T>(most * std::sqrt(static_cast<double>(squares[g]) / 4294967296.0));
        return false;
    }
};

template <class T>
struct tentative_step : writes_only {
    const std::int32_t* aggregate;
    const T* v;
    const T* norm;
    T* tentative; ///< [rows]

    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    KRYLITH_HD bool finish(std::int64_t row, std::uint32_t) const {
        const std::int32_t g = aggregate[row];
        const T divisor = g >= 0 ? norm[g] : T(0);
        tentative[row] = divisor != T(0) ? v[row] / divisor : T(0);
        return false;
    }
};

/// Joins what another rank found with the own.
struct join_largest_step : writes_only {
    const wide* other;
    wide* own;

    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    KRYLITH_HD bool finish(std::int64_t i, std::uint32_t) const {
        own[i] = own[i] > other[i] ? own[i] : other[i];
        return false;
    }
};

struct join_sum_step : writes_only {
    const wide* other;
    wide* own;

    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    KRYLITH_HD bool finish(std::int64_t i, std::uint32_t) const {
        own[i] += other[i];
        return false;
    }
};

} // namespace krylith::aggregation
