// The steps that say where entries of a coarse matrix may be dropped: one row at a time, on hosts
// and GPUs.
#pragma once

#include <cmath>
#include <cstdint>

#include <krylith/device/loops/shared_numbers.hpp>
#include <krylith/device/loops/visit_rows.hpp>
#include <krylith/precond/coarsening/rank_rows.hpp>

namespace krylith::aggregation {

/// Between rows whose weights times v differ by this factor a coefficient jumps.
inline constexpr double jump = 256;
/// Where it does, an entry of less than this fraction of `drop` may be all that ties a stiff region
/// to another one, and is not small.
inline constexpr double least_dropped = 1.0 / 16;

/// Whether an entry is small in both of its rows, i and j: weight is v times the diagonal entry,
/// negative in a row near a jump. Equal entries of (i, j) and (j, i) have the same answer.
template <class T>
[[nodiscard]] KRYLITH_HD inline bool is_small(T entry, double drop, T v_i, T weight_i, T v_j,
                                              T weight_j) {
    const double size = std::fabs(static_cast<double>(entry));
    const double in_i = size * static_cast<double>(v_j);
    const double in_j = size * static_cast<double>(v_i);
    const double of_i = drop * std::fabs(static_cast<double>(weight_i));
    const double of_j = drop * std::fabs(static_cast<double>(weight_j));
    if (!(in_i < of_i && in_j < of_j)) return false;
    if (weight_i > T(0) && weight_j > T(0)) return true;
    return in_i >= least_dropped * of_i || in_j >= least_dropped * of_j;
}

/// What a row of a level's matrix has, but for zeros.
enum small_entries : std::uint8_t {
    has_small = 1, ///< in both of their rows: they may be all that ties some rows together, as
                   ///< where a direction of a grid is weak
    has_jump = 2   ///< in this row alone, since a coefficient jumps
};

/// Marks the rows of a level's matrix that have small entries.
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
                if (column[i] != own && value[i] != T(0))
                    result |= kind_of(value[i], v_i, weight_i, v_j[i], weight(v_j[i]));
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

private:
    [[nodiscard]] KRYLITH_HD part_type kind_of(T entry, T v_i, T weight_i, T v_j,
                                               T weight_j) const {
        if (is_small(entry, drop, v_i, weight_i, v_j, weight_j)) return has_small;
        const double size = std::fabs(static_cast<double>(entry));
        const bool small_here =
            size * static_cast<double>(v_j) < drop * static_cast<double>(weight_i);
        const bool jumps = static_cast<double>(v_i) * static_cast<double>(weight_i) >
                           jump * static_cast<double>(v_j) * static_cast<double>(weight_j);
        return small_here && jumps ? has_jump : 0;
    }
};

/// Counts the rows with an entry that fp32 loses beside their diagonal, though it is large in its
/// other row. All diagonal entries are equal.
template <class T>
struct lost_entries_step {
    rank_rows a;
    const T* values;
    const T* v;                 ///< by local columns
    unsigned long long* counts; ///< [counters]

    static constexpr std::int64_t counters = 1024; ///< rows add to them in turn
    static constexpr double lost = 1.0 / (1 << 18);
    static constexpr double large = 0.02;

    using part_type = std::uint32_t;
    [[nodiscard]] KRYLITH_HD static part_type join(part_type one, part_type other) {
        return one | other;
    }
    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    [[nodiscard]] KRYLITH_HD part_type part(std::int64_t row, int lane, int lanes) const {
        const std::int32_t own = a.own(row);
        const std::int64_t end = a.offsets[row + 1];
        const double diagonal =
            std::fabs(static_cast<double>(values[place_of(a.indices, a.offsets[row], end, own)]));
        const double v_i = std::fabs(static_cast<double>(v[own]));
        part_type found = 0;
        for (std::int64_t k = a.offsets[row] + lane; k < end; k += lanes) {
            const double size = std::fabs(static_cast<double>(values[k]));
            const double v_j = std::fabs(static_cast<double>(v[a.indices[k]]));
            if (size * v_j < lost * diagonal * v_i && size * v_i > large * diagonal * v_j)
                found = 1;
        }
        return found;
    }
    KRYLITH_HD bool finish(std::int64_t row, part_type found) const {
        if (found != 0) add_shared(counts + row % counters, 1ull);
        return false;
    }
};

/// Gives each coarse row its weight: v times its diagonal entry, or 0 where a row of the finer
/// level that it restricts has small entries, so that nothing in it counts as small, or minus that
/// where one is beside a jump.
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
        const bool known = (small & has_small) == 0 && at < end && coarse.indices[at] == own;
        const T weight = known ? v[own] * values[at] : T(0);
        weights[own] = (small & has_jump) != 0 ? -weight : weight;
        return false;
    }
};

} // namespace krylith::aggregation
