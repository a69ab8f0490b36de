// The steps that say where entries of a coarse matrix may be dropped: one row at a time, on hosts
// and GPUs.
#pragma once

#include <cmath>
#include <cstdint>

#include <krylith/device/loops/visit_rows.hpp>
#include <krylith/precond/coarsening/rank_rows.hpp>

namespace krylith::aggregation {

/// Whether an entry is small in both of its rows, i and j: weight is v times the diagonal entry.
/// Equal entries of (i, j) and (j, i) have the same answer.
template <class T>
[[nodiscard]] KRYLITH_HD inline bool is_small(T entry, double drop, T v_i, T weight_i, T v_j,
                                              T weight_j) {
    const double size = std::fabs(static_cast<double>(entry));
    return size * static_cast<double>(v_j) < drop * static_cast<double>(weight_i) &&
           size * static_cast<double>(v_i) < drop * static_cast<double>(weight_j);
}

/// Marks the rows of a level's matrix that have a small entry, but 0: they may be all that ties
/// some rows together, as where a direction of a grid is weak.
template <class T>
struct small_entries_step {
    rank_rows a;
    const T* values;
    const T* v;      ///< by local columns
    double diagonal; ///< of all rows
    double drop;
    std::uint8_t* found; ///< [rows]

    using part_type = std::uint32_t;
    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    [[nodiscard]] KRYLITH_HD part_type part(std::int64_t row, int lane, int lanes) const {
        const std::int32_t own = a.own(row);
        const auto weight = [&](T of) {
            return static_cast<T>(diagonal * static_cast<double>(of));
        };
        const T v_i = std::fabs(v[own]);
        const T weight_i = weight(v_i);
        const std::int64_t end = a.offsets[row + 1];
        part_type result = 0;
#ifndef __CUDA_ARCH__
        constexpr int flight = 1;
#else
        constexpr int flight = rank_rows::flight; // loaded at once: a trip would wait for each
#endif
        for (std::int64_t k = a.offsets[row] + lane; k < end; k += std::int64_t{flight} * lanes) {
            std::int32_t column[flight];
            T value[flight];
            T v_j[flight];
            for (int i = 0; i < flight; ++i) {
                const std::int64_t at = k + i * lanes < end ? k + i * lanes : k;
                column[i] = a.indices[at];
                value[i] = values[at];
                v_j[i] = std::fabs(v[column[i]]);
            }
            for (int i = 0; i < flight; ++i)
                if (column[i] != own && value[i] != T(0) &&
                    is_small(value[i], drop, v_i, weight_i, v_j[i], weight(v_j[i])))
                    result = 1;
        }
        return result;
    }
    [[nodiscard]] KRYLITH_HD static part_type join(part_type one, part_type other) {
        return one | other;
    }
    KRYLITH_HD bool finish(std::int64_t row, part_type small) const {
        found[row] = static_cast<std::uint8_t>(small);
        return false;
    }
};

/// Gives each coarse row its weight: v times its diagonal entry, or 0 where a row of the finer
/// level that it restricts has small entries, so that nothing in it counts as small.
template <class T>
struct row_weight_step {
    rank_rows r;               ///< the restriction; without rows none has small entries
    const std::uint8_t* found; ///< by local columns of r
    rank_rows coarse;
    const T* values; ///< of the coarse matrix
    const T* v;      ///< by its local columns
    T* weights;      ///< the same

    using part_type = std::uint32_t;
    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    [[nodiscard]] KRYLITH_HD part_type part(std::int64_t row, int lane, int lanes) const {
        part_type result = 0;
        if (r.rows == 0) return result;
        const std::int64_t end = r.offsets[row + 1];
        for (std::int64_t k = r.offsets[row] + lane; k < end; k += lanes)
            result |= found[r.indices[k]];
        return result;
    }
    [[nodiscard]] KRYLITH_HD static part_type join(part_type one, part_type other) {
        return one | other;
    }
    KRYLITH_HD bool finish(std::int64_t row, part_type small) const {
        const std::int32_t own = coarse.own(row);
        const std::int64_t end = coarse.offsets[row + 1];
        const std::int64_t at = place_of(coarse.indices, coarse.offsets[row], end, own);
        const bool known = small == 0 && at < end && coarse.indices[at] == own;
        weights[own] = known ? v[own] * values[at] : T(0);
        return false;
    }
};

} // namespace krylith::aggregation
