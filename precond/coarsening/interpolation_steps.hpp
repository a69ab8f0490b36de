// Steps that make the rows of extended+i interpolation: P = G H, where a row of H has the entries
// of A in coarse columns that influence it, and 1 in a coarse row; a row of G has its own column
// and the fine rows that influence it.
#pragma once

#include <cstdint>

#include <krylith/device/loops/visit_rows.hpp>
#include <krylith/precond/coarsening/influence_steps.hpp>
#include <krylith/precond/coarsening/rank_rows.hpp>

namespace krylith::classical {

/// What the steps below read of a rank.
template <class T>
struct interpolated_rows {
    rank_rows a; ///< with couplings
    const T* values;
    const T* v;                 ///< [local columns]
    const std::int32_t* number; ///< [local columns]

    [[nodiscard]] KRYLITH_HD bool is_coarse(std::int32_t column) const {
        return number[column] >= 0;
    }
    /// Whether the row of an entry is interpolated from its column, at once or through it.
    [[nodiscard]] KRYLITH_HD bool through(std::int64_t k) const {
        return (a.couplings[k] & influenced) != 0 && number[a.indices[k]] != left_out;
    }
    /// g_ij of entry k in the row of column `own`.
    [[nodiscard]] KRYLITH_HD double along(std::int64_t k, std::int32_t own) const {
        return static_cast<double>(values[k]) * (v[a.indices[k]] / static_cast<double>(v[own]));
    }
    /// beta_j + g_ji of entry k, by which a fine row j shares out what it gets from row i.
    [[nodiscard]] KRYLITH_HD double shared_out(std::int64_t k, std::int32_t own,
                                               const double* beta) const {
        const std::int32_t j = a.indices[k];
        return beta[j] + static_cast<double>(values[k]) * (v[own] / static_cast<double>(v[j]));
    }
};

struct coarse_influence {
    double sum = 0;
    std::int32_t rows = 0;
};

/// beta: the sum of g_ij over the coarse rows that influence a row; 0 where these are so many that
/// no other row is interpolated through it, since each of its neighbours would reach them all.
template <class T>
struct coarse_influence_step {
    interpolated_rows<T> rows;
    double* beta; ///< [local columns]

    /// Grids have up to 13, hubs of networks thousands.
    static constexpr std::int32_t most = 64;

    using part_type = coarse_influence;
    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    [[nodiscard]] KRYLITH_HD coarse_influence part(std::int64_t row, int lane, int lanes) const {
        const std::int32_t own = rows.a.own(row);
        coarse_influence found;
        if (rows.number[own] != no_number) return found;
        for (std::int64_t k = rows.a.offsets[row] + lane; k < rows.a.offsets[row + 1]; k += lanes)
            if (rows.through(k) && rows.is_coarse(rows.a.indices[k])) {
                found.sum += rows.along(k, own);
                ++found.rows;
            }
        return found;
    }
    KRYLITH_HD static coarse_influence join(const coarse_influence& one,
                                            const coarse_influence& other) {
        return {one.sum + other.sum, one.rows + other.rows};
    }
    KRYLITH_HD bool finish(std::int64_t row, const coarse_influence& found) const {
        beta[rows.a.own(row)] = found.rows <= most ? found.sum : 0.0;
        return false;
    }
};

struct row_weight {
    double diagonal = 0;     ///< d_i
    double own = 0;          ///< a_ii
    std::int32_t fine = 0;   ///< fine rows that influence it
    std::int32_t coarse = 0; ///< coarse ones
};

/// d_i, and the numbers of entries of the rows of G and H.
template <class T>
struct row_weight_step {
    interpolated_rows<T> rows;
    const double* beta;
    double* inverse;       ///< [rows] -1 / d_i
    std::int32_t* entries; ///< [rows] of G; null: they are known
    std::int32_t* direct;  ///< [rows] of H

    using part_type = row_weight;
    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    [[nodiscard]] KRYLITH_HD row_weight part(std::int64_t row, int lane, int lanes) const {
        const std::int32_t own = rows.a.own(row);
        row_weight sum;
        if (rows.number[own] != no_number) return sum;
        for (std::int64_t k = rows.a.offsets[row] + lane; k < rows.a.offsets[row + 1]; k += lanes) {
            const std::int32_t j = rows.a.indices[k];
            const auto value = static_cast<double>(rows.values[k]);
            if (j == own) {
                sum.own = value;
            } else if (rows.through(k) && rows.is_coarse(j)) {
                ++sum.coarse;
            } else if (!rows.through(k) || beta[j] == 0) {
                sum.diagonal += rows.along(k, own);
            } else {
                ++sum.fine;
                sum.diagonal += value * value / rows.shared_out(k, own, beta);
            }
        }
        return sum;
    }
    KRYLITH_HD static row_weight join(const row_weight& one, const row_weight& other) {
        return {one.diagonal + other.diagonal, one.own + other.own, one.fine + other.fine,
                one.coarse + other.coarse};
    }
    KRYLITH_HD bool finish(std::int64_t row, const row_weight& sum) const {
        constexpr double least = 0.05;
        const std::int32_t kind = rows.number[rows.a.own(row)];
        const double diagonal = sum.own + sum.diagonal;
        inverse[row] = -1 / (diagonal > least * sum.own ? diagonal : least * sum.own);
        if (entries != nullptr) {
            entries[row] = kind == left_out ? 0 : 1 + sum.fine;
            direct[row] = kind == left_out ? 0 : kind >= 0 ? 1 : sum.coarse;
        }
        return false;
    }
};

/// The entries of G, in the columns of A.
template <class T>
struct fill_indirect_step : writes_only {
    interpolated_rows<T> rows;
    const double* beta;
    const double* inverse;
    const std::int64_t* offsets;
    std::int32_t* columns; ///< null: they are there
    T* values;

    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t row) const {
        return rows.number[rows.a.own(row)] != left_out;
    }
    KRYLITH_HD bool finish(std::int64_t row, std::uint32_t) const {
        const std::int32_t own = rows.a.own(row);
        const bool whole = rows.is_coarse(own);
        std::int64_t at = offsets[row];
        for (std::int64_t k = rows.a.offsets[row]; k < rows.a.offsets[row + 1]; ++k) {
            const std::int32_t j = rows.a.indices[k];
            double value = whole ? 1 : inverse[row];
            if (j != own) {
                if (whole || !rows.through(k) || rows.is_coarse(j) || beta[j] == 0) continue;
                value *= static_cast<double>(rows.values[k]) / rows.shared_out(k, own, beta);
            }
            if (columns != nullptr) columns[at] = j;
            values[at++] = static_cast<T>(value);
        }
        return false;
    }
};

/// The entries of H, in coarse columns.
template <class T>
struct fill_direct_step : writes_only {
    interpolated_rows<T> rows;
    const std::int64_t* offsets;
    std::int32_t* columns; ///< global; null: they are there
    T* values;

    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t row) const {
        return rows.number[rows.a.own(row)] != left_out;
    }
    KRYLITH_HD bool finish(std::int64_t row, std::uint32_t) const {
        const std::int32_t own = rows.a.own(row);
        std::int64_t at = offsets[row];
        if (rows.is_coarse(own)) {
            if (columns != nullptr) columns[at] = rows.number[own];
            values[at] = 1;
            return false;
        }
        for (std::int64_t k = rows.a.offsets[row]; k < rows.a.offsets[row + 1]; ++k) {
            const std::int32_t j = rows.a.indices[k];
            if (!rows.through(k) || !rows.is_coarse(j)) continue;
            if (columns != nullptr) columns[at] = rows.number[j];
            values[at++] = rows.values[k];
        }
        return false;
    }
};

/// v on the coarse rows of a rank.
template <class T>
struct inject_step : writes_only {
    const std::int32_t* number; ///< [rows]
    const T* v;                 ///< [rows]
    std::int32_t first;         ///< the number of the rank's first coarse row
    T* to;                      ///< [coarse rows]

    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t row) const { return number[row] >= 0; }
    KRYLITH_HD bool finish(std::int64_t row, std::uint32_t) const {
        to[number[row] - first] = v[row];
        return false;
    }
};

} // namespace krylith::classical
