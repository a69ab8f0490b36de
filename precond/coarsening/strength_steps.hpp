// Steps that find diagonals, couplings and the filtered matrix.
#pragma once

#include <cmath>
#include <cstdint>

#include <krylith/device/loops/shared_numbers.hpp>
#include <krylith/precond/coarsening/aggregate_keys.hpp>
#include <krylith/precond/coarsening/rank_rows.hpp>

namespace krylith::aggregation {

/// The diagonal of a row, and its largest entries of either sign off it.
template <class T>
struct row_extremes {
    T diagonal = 0;
    T positive = 0;
    T negative = 0; ///< its magnitude

    KRYLITH_HD void add(T value) {
        if (value > positive) positive = value;
        if (-value > negative) negative = -value;
    }
    KRYLITH_HD static row_extremes join(row_extremes one, const row_extremes& other) {
        if (one.diagonal == T(0)) one.diagonal = other.diagonal;
        one.add(other.positive);
        one.add(-other.negative);
        return one;
    }
    /// Elements that are stretched, or whose coefficient is, along an axis or not, give a row large
    /// positive entries across that direction, which the magnitudes of entries don't show. Returns
    /// what an entry of such a row is along it at least, over the diagonal; 0 for other rows.
    [[nodiscard]] KRYLITH_HD T least_along() const {
        const bool directed = negative > T(0) && positive > negative / T(8);
        return directed ? negative / (T(2) * std::fabs(diagonal)) : T(0);
    }
};

/// Writes the square roots of diagonals, the diagonals, and least_along() of rows.
template <class T>
struct diagonal_step {
    rank_rows a;
    const T* values;
    T* diagonal; ///< [rows]
    T* scale;    ///< [local columns]
    T* along;    ///< [local columns]; null: nothing is asked

    using part_type = row_extremes<T>;
    KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    KRYLITH_HD row_extremes<T> part(std::int64_t row, int lane, int lanes) const {
        const std::int64_t end = a.offsets[row + 1];
        const std::int32_t own = a.own(row);
        row_extremes<T> found;
        for (std::int64_t k = a.offsets[row] + lane; k < end; k += lanes) {
            if (a.indices[k] != own) {
                if (along != nullptr) found.add(values[k]);
                continue;
            }
            found.diagonal = values[k];
            if (along == nullptr) break;
        }
        return found;
    }
    KRYLITH_HD static row_extremes<T> join(const row_extremes<T>& one,
                                           const row_extremes<T>& other) {
        return row_extremes<T>::join(one, other);
    }
    KRYLITH_HD bool finish(std::int64_t row, const row_extremes<T>& found) const {
        diagonal[row] = found.diagonal;
        scale[a.own(row)] = std::sqrt(std::fabs(found.diagonal));
        if (along != nullptr) along[a.own(row)] = found.least_along();
        return false;
    }
};

/// What the entries of a row must reach to be strong, where some rows have a direction.
template <class T>
struct strength_bounds {
    T theta;
    const T* along; ///< [local columns]; null: no row has a direction

    /// The same from both rows: one that has a direction asks for more, but for no more than the
    /// other row asks, and for entries that are not positive.
    struct bound {
        T least;
        bool never;
    };
    [[nodiscard]] KRYLITH_HD bound of(T own, std::int32_t column, T value) const {
        if (along == nullptr || (!(own > theta) && !(value > T(0)))) return {theta, false};
        const T other = along[column];
        if (value > T(0)) return {theta, own > theta || other > theta};
        const T less = other < own ? other : own;
        return {less > theta ? less : theta, false};
    }
};

/// Sums of entries of a row off the diagonal, in units of 2^-32 of the diagonal: as integers their
/// order does not matter.
struct row_sums {
    long long weak = 0;   ///< signed, what goes to the diagonal
    long long strong = 0; ///< of magnitudes, of what stays
    int strong_entries = 0;

    template <class T>
    [[nodiscard]] KRYLITH_HD static long long units_of(T quotient) {
        constexpr T most = T(1ll << 20);
        const T bounded = quotient > most ? most : quotient < -most ? -most : quotient;
        return static_cast<long long>(bounded * T(1ll << 32));
    }
    template <class T>
    KRYLITH_HD void add_weak(T quotient) {
        weak += units_of(quotient);
    }
    template <class T>
    KRYLITH_HD void add_kept(T quotient) {
        strong += units_of(quotient);
    }
    template <class T>
    KRYLITH_HD void add_strong(T quotient) {
        add_kept(quotient);
        ++strong_entries;
    }
    KRYLITH_HD static row_sums join(row_sums one, const row_sums& other) {
        one.weak += other.weak;
        one.strong += other.strong;
        one.strong_entries += other.strong_entries;
        return one;
    }
    /// The diagonal of A_F over that of A.
    [[nodiscard]] KRYLITH_HD double kept() const {
        const double sum = 1.0 + static_cast<double>(weak) / 4294967296.0;
        return sum > 0.05 ? sum : 0.05;
    }
    /// The Gershgorin bound of the row of D_F^-1 A_F.
    [[nodiscard]] KRYLITH_HD double bound() const {
        return 1.0 + static_cast<double>(strong) / 4294967296.0 / kept();
    }
};

/// v_j / v_i of the entries of a row, for what is dropped to go to the diagonal so that A_F v = A
/// v; 1 where v is not known.
template <class T>
struct vector_ratios {
    const T* v; ///< [local columns], not 0; null: not known
    std::int32_t own;

    [[nodiscard]] KRYLITH_HD T of(std::int32_t column) const {
        if (v == nullptr) return T(1);
        const T ratio = v[column] / v[own];
        return ratio - ratio == T(0) ? ratio : T(1); // a row where v is 0 can't keep A v
    }
};

/// What both steps below write for a row.
template <class T>
struct filtered_rows {
    const T* diagonal;              ///< of A, [rows]
    T* filtered;                    ///< the diagonal of A_F, [rows]
    unsigned long long* bound_bits; ///< the largest bound of a row of D_F^-1 A_F

    KRYLITH_HD void write(std::int64_t row, const row_sums& sums) const {
        write(row, diagonal[row], sums);
    }
    KRYLITH_HD void write(std::int64_t row, T own_diagonal, const row_sums& sums) const {
        filtered[row] = own_diagonal * static_cast<T>(sums.kept());
        const unsigned long long bits = ordered_bits(sums.bound());
        if (bits > load_shared(bound_bits)) raise_shared(bound_bits, bits);
    }
};

/// Decides which entries are strong.
template <class T>
struct strength_step {
    rank_rows a;
    const T* values;
    const T* scale;
    const T* near_null; ///< [local columns]; null: not known
    filtered_rows<T> result;
    strength_bounds<T> bounds;
    T large; ///< times the diagonal: weak entries of at least this stay in A_F
    unsigned long long* undirected; ///< counts rows of the sample that have no direction
    std::uint32_t sampled;          ///< a power of two: one row in so many is in the sample
    std::uint8_t* couplings;        ///< [nonzeros]
    std::uint8_t* state;            ///< [local columns]

    using part_type = row_sums;
    KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    KRYLITH_HD row_sums part(std::int64_t row, int lane, int lanes) const {
        row_sums sums;
        const std::int32_t own = a.own(row);
        const T own_scale = scale[own];
        const T own_along = bounds.along != nullptr ? bounds.along[own] : T(0);
        const T inverse = T(1) / result.diagonal[row];
        const vector_ratios<T> ratio{near_null, own};
        const std::int64_t end = a.offsets[row + 1];
        constexpr int flight = rank_rows::flight;
        for (std::int64_t k = a.offsets[row] + lane; k < end; k += flight * lanes) {
            std::int32_t column[flight];
            T value[flight];
            T other_scale[flight];
            for (int i = 0; i < flight; ++i) {
                const std::int64_t at = k + i * lanes < end ? k + i * lanes : k;
                column[i] = a.indices[at];
                value[i] = values[at];
                other_scale[i] = scale[column[i]];
            }
            for (int i = 0; i < flight; ++i) {
                if (k + i * lanes >= end) break;
                std::uint8_t coupling = 0;
                if (column[i] != own) {
                    const auto bound = bounds.of(own_along, column[i], value[i]);
                    if (!bound.never)
                        coupling = coupling_of(std::fabs(value[i]), own_scale, other_scale[i],
                                               bound.least);
                    if (coupling != 0) {
                        sums.add_strong(std::fabs(value[i] * inverse));
                    } else {
                        const T lumped = value[i] * inverse * ratio.of(column[i]);
                        if (std::fabs(lumped) >= large && !bound.never) {
                            coupling = large_in_row;
                            sums.add_kept(std::fabs(value[i] * inverse));
                        } else {
                            sums.add_weak(lumped);
                        }
                    }
                }
                couplings[k + i * lanes] = coupling;
            }
        }
        return sums;
    }
    KRYLITH_HD static row_sums join(const row_sums& one, const row_sums& other) {
        return row_sums::join(one, other);
    }
    KRYLITH_HD bool finish(std::int64_t row, const row_sums& sums) const {
        const std::int32_t own = a.own(row);
        state[own] = sums.strong_entries != 0 ? undecided : isolated;
        result.write(row, sums);
        if (bounds.along != nullptr && !(bounds.along[own] > bounds.theta) &&
            (key_of(static_cast<std::uint32_t>(a.columns.global(own)), 0) & (sampled - 1)) == 0)
            add_shared(undirected, 1ull);
        return false;
    }
};

/// Filters new values by couplings that are known.
template <class T>
struct filter_step {
    rank_rows a;
    const T* values;
    const T* near_null; ///< [local columns]; null: not known
    filtered_rows<T> result;

    using part_type = row_sums;
    KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    KRYLITH_HD row_sums part(std::int64_t row, int lane, int lanes) const {
        row_sums sums;
        const std::int32_t own = a.own(row);
        const T inverse = T(1) / result.diagonal[row];
        const vector_ratios<T> ratio{near_null, own};
        const std::int64_t end = a.offsets[row + 1];
        for (std::int64_t k = a.offsets[row] + lane; k < end; k += lanes) {
            if (a.couplings[k] != 0)
                sums.add_kept(std::fabs(values[k] * inverse));
            else if (a.indices[k] != own)
                sums.add_weak(values[k] * inverse * ratio.of(a.indices[k]));
        }
        return sums;
    }
    KRYLITH_HD static row_sums join(const row_sums& one, const row_sums& other) {
        return row_sums::join(one, other);
    }
    KRYLITH_HD bool finish(std::int64_t row, const row_sums& sums) const {
        result.write(row, sums);
        return false;
    }
};

} // namespace krylith::aggregation
