// Steps that put the entries of a matrix in the order of sweeps over colours
// (device/loops/visit_rows.hpp has what a step is).
#pragma once

#include <cmath>
#include <cstdint>

#include <krylith/device/loops/visit_rows.hpp>
#include <krylith/precond/coarsening/rank_rows.hpp>
#include <krylith/precond/diagonal/diagonal_inverse.hpp>

namespace krylith::detail {

/// The rows of a device in colour order, and which of their entries belong to a sweep.
struct sweep_entries : writes_only {
    aggregation::rank_rows a;
    const std::int32_t* colour; ///< [local columns]
    const std::int32_t* order;  ///< [rows]
    bool forward;               ///< entries in columns of earlier colours; else of later ones

    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    [[nodiscard]] KRYLITH_HD bool belongs(std::int32_t own, std::int32_t column) const {
        return forward ? colour[column] < colour[own] : colour[column] > colour[own];
    }
};

struct count_sweep_step : sweep_entries {
    std::int32_t* counts; ///< in colour order

    KRYLITH_HD bool finish(std::int64_t i, std::uint32_t) const {
        const std::int64_t row = order[i];
        std::int32_t count = 0;
        for (std::int64_t k = a.offsets[row]; k < a.offsets[row + 1]; ++k)
            count += belongs(a.own(row), a.indices[k]);
        counts[i] = count;
        return false;
    }
};

/// Writes -factor a_ij / a_ii, and the columns.
template <class T>
struct fill_sweep_step : sweep_entries {
    const T* entries;
    const T* inverse; ///< [rows] factor / a_ii
    const std::int64_t* offsets;
    std::int32_t* columns;
    T* values;

    KRYLITH_HD bool finish(std::int64_t i, std::uint32_t) const {
        const std::int64_t row = order[i];
        std::int64_t to = offsets[i];
        for (std::int64_t k = a.offsets[row]; k < a.offsets[row + 1]; ++k) {
            const std::int32_t column = a.indices[k];
            if (!belongs(a.own(row), column)) continue;
            values[to] = -inverse[row] * entries[k];
            columns[to++] = column;
        }
        return false;
    }
};

/// d[row] = the diagonal; entries at one place add up.
template <class T>
struct take_diagonal_step : writes_only {
    aggregation::rank_rows a;
    const T* entries;
    T* diagonal;

    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    KRYLITH_HD bool finish(std::int64_t row, std::uint32_t) const {
        T sum = 0;
        for (std::int64_t k = a.offsets[row]; k < a.offsets[row + 1]; ++k)
            if (a.indices[k] == a.own(row)) sum += entries[k];
        diagonal[row] = sum;
        return false;
    }
};

/// scaled[row] = factor v[row]
template <class T>
struct scale_step : writes_only {
    const T* v;
    T factor;
    T* scaled;

    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    KRYLITH_HD bool finish(std::int64_t row, std::uint32_t) const {
        scaled[row] = factor * v[row];
        return false;
    }
};

} // namespace krylith::detail
