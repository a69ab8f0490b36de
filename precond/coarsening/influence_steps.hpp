// Steps that find which rows influence which, and the rounds of the independent set of coarse rows.
//
// All that is compared are integers, or numbers that each row computes alike, so neither an order
// of work nor a partition shows in the result.
#pragma once

#include <cstdint>

#include <krylith/device/loops/visit_rows.hpp>
#include <krylith/precond/coarsening/aggregate_keys.hpp>
#include <krylith/precond/coarsening/rank_rows.hpp>

namespace krylith::classical {

using aggregation::rank_rows;

/// What is known of a row.
enum row_kind : std::int32_t {
    alone = -1, ///< nothing influences it, and it influences none
    open = 0,
    fine = 1, ///< it is interpolated
    coarse = 2
};

/// What an entry a_ij is.
inline constexpr std::uint8_t influenced = 1; ///< j influences i
inline constexpr std::uint8_t influences = 2; ///< i influences j

/// -a_ij v_j / v_i of the largest such entry of each row.
template <class T>
struct largest_influence_step {
    rank_rows a;
    const T* values;
    const T* v; ///< [local columns]
    T* largest; ///< [local columns]; 0 where there is none

    using part_type = T;
    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    [[nodiscard]] KRYLITH_HD T part(std::int64_t row, int lane, int lanes) const {
        const std::int32_t own = a.own(row);
        T most = 0;
        for (std::int64_t k = a.offsets[row] + lane; k < a.offsets[row + 1]; k += lanes) {
            const std::int32_t j = a.indices[k];
            const T influence = j == own ? T(0) : -values[k] * (v[j] / v[own]);
            if (influence > most) most = influence;
        }
        return most;
    }
    KRYLITH_HD static T join(T one, T other) { return one > other ? one : other; }
    KRYLITH_HD bool finish(std::int64_t row, T most) const {
        largest[a.own(row)] = most;
        return false;
    }
};

struct influence_counts {
    std::uint32_t rows = 0;    ///< that the row influences
    std::uint32_t entries = 0; ///< of either kind
    std::uint32_t end = 0;     ///< 1: a positive entry is as large as one that influences
};

/// Says of each entry what it is, and gives each row its key: how many rows it influences, or more
/// where a positive entry is as large as one that influences. Such rows are the ends of slivers,
/// thin triangles whose middle vertex hangs between the two: where the ends are coarse, the middle
/// is interpolated from both, as it should be; where it is coarse itself, they would be one.
template <class T>
struct influence_step {
    rank_rows a;
    const T* values;
    const T* v;
    const T* largest;
    T threshold;
    std::uint8_t* couplings; ///< [nonzeros]
    std::int32_t* key;       ///< [local columns]
    std::int32_t* kind;      ///< [local columns]

    using part_type = influence_counts;
    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    [[nodiscard]] KRYLITH_HD influence_counts part(std::int64_t row, int lane, int lanes) const {
        const std::int32_t own = a.own(row);
        influence_counts counts;
        for (std::int64_t k = a.offsets[row] + lane; k < a.offsets[row + 1]; k += lanes) {
            const std::int32_t j = a.indices[k];
            std::uint8_t found = 0;
            if (j != own) {
                const T from = -values[k] * (v[j] / v[own]);
                const T to = -values[k] * (v[own] / v[j]);
                if (-from > T(0) && largest[own] > T(0) && -from >= threshold * largest[own])
                    counts.end = 1;
                if (from > T(0) && from >= threshold * largest[own]) found |= influenced;
                if (to > T(0) && to >= threshold * largest[j]) found |= influences;
            }
            couplings[k] = found;
            counts.rows += (found & influences) != 0 ? 1u : 0u;
            counts.entries += found != 0 ? 1u : 0u;
        }
        return counts;
    }
    KRYLITH_HD static influence_counts join(influence_counts one, const influence_counts& other) {
        return {one.rows + other.rows, one.entries + other.entries, one.end | other.end};
    }
    KRYLITH_HD bool finish(std::int64_t row, const influence_counts& counts) const {
        constexpr std::uint32_t most = 1023;
        constexpr std::uint32_t of_an_end = 128; // more than rows of a mesh influence
        const std::uint32_t rows = counts.rows + of_an_end * counts.end;
        const std::int32_t own = a.own(row);
        const std::uint32_t hash =
            aggregation::key_of(static_cast<std::uint32_t>(a.columns.global(own)), 0) >> 11;
        key[own] = static_cast<std::int32_t>(((rows < most ? rows : most) << 21) + hash);
        kind[own] = counts.entries != 0 ? open : alone;
        return false;
    }
};

/// The largest key of the open rows around a row, of equal ones that of the last row, and whether
/// a coarse row influences it.
struct row_surroundings {
    std::int32_t key = -1;
    std::int32_t row = -1; ///< global: amg has no more than 32 bits number
    std::int32_t beside_coarse = 0;

    [[nodiscard]] KRYLITH_HD bool exceeds(const row_surroundings& other) const {
        return key != other.key ? key > other.key : row > other.row;
    }
};

/// A round: open rows that are beside a coarse one become fine, and those whose key is the largest
/// become coarse. A row stays in the list until both arrays of kinds, which are read and written
/// by turns, say what it is.
struct choose_coarse_step {
    rank_rows a;
    const std::int32_t* key;
    const std::int32_t* kind;
    std::int32_t* next;

    using part_type = row_surroundings;
    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    [[nodiscard]] KRYLITH_HD row_surroundings part(std::int64_t row, int lane, int lanes) const {
        row_surroundings found;
        if (kind[a.own(row)] != open) return found;
        for (std::int64_t k = a.offsets[row] + lane; k < a.offsets[row + 1]; k += lanes) {
            const std::uint8_t coupling = a.couplings[k];
            if (coupling == 0) continue;
            const std::int32_t j = a.indices[k];
            row_surroundings one;
            if (kind[j] == open)
                one = {key[j], static_cast<std::int32_t>(a.columns.global(j)), 0};
            else if (kind[j] == coarse && (coupling & influenced) != 0)
                one.beside_coarse = 1;
            found = join(found, one);
        }
        return found;
    }
    KRYLITH_HD static row_surroundings join(const row_surroundings& one,
                                            const row_surroundings& other) {
        row_surroundings both = one.exceeds(other) ? one : other;
        both.beside_coarse = one.beside_coarse | other.beside_coarse;
        return both;
    }
    KRYLITH_HD bool finish(std::int64_t row, const row_surroundings& around) const {
        const std::int32_t own = a.own(row);
        const std::int32_t now = kind[own];
        next[own] = now;
        if (now != open) return false;
        const row_surroundings self{key[own], static_cast<std::int32_t>(a.columns.global(own)), 0};
        if (around.beside_coarse != 0)
            next[own] = fine;
        else if (self.exceeds(around))
            next[own] = coarse;
        return true;
    }
};

/// 1 for coarse rows.
struct is_coarse {
    const std::int32_t* kind; ///< [rows]
    [[nodiscard]] KRYLITH_HD std::int32_t operator()(std::int64_t row) const {
        return kind[row] == coarse ? 1 : 0;
    }
};

/// The numbers of coarse rows on their level; those of other rows say that they have none.
inline constexpr std::int32_t no_number = -1;
inline constexpr std::int32_t left_out = -2; ///< of a row that is alone

struct number_coarse_step : writes_only {
    rank_rows a;
    const std::int32_t* kind;   ///< [local columns]
    const std::int32_t* before; ///< [rows] coarse rows of the rank before a row
    std::int32_t first;         ///< the number of the rank's first coarse row
    std::int32_t* number;       ///< [local columns]

    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    KRYLITH_HD bool finish(std::int64_t row, std::uint32_t) const {
        const std::int32_t own = a.own(row);
        number[own] = kind[own] == coarse  ? first + before[row]
                      : kind[own] == alone ? left_out
                                           : no_number;
        return false;
    }
};

} // namespace krylith::classical
