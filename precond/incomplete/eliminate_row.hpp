// The elimination of one row of an incomplete factorisation without fill, on hosts and GPUs.
#pragma once

#include <cstdint>

#include <krylith/device/kernel/annotations.hpp>
#include <krylith/device/loops/shared_numbers.hpp>

namespace krylith::incomplete {

/// What went wrong: each word is 0, or the complement of the lowest place or row, so that the
/// largest number that anyone stores counts.
struct failure_words {
    std::uint32_t entries;    ///< by row of the block: an entry is not finite
    std::uint32_t unmirrored; ///< by place: an entry whose mirror image is not in the pattern
    std::uint32_t pivots;     ///< by place: a pivot is 0 or not finite, or not positive
};

[[nodiscard]] KRYLITH_HD inline std::uint32_t failure_at(std::int64_t place) {
    return ~static_cast<std::uint32_t>(place);
}

template <class T>
[[nodiscard]] KRYLITH_HD inline bool is_finite(T x) {
    return x - x == 0;
}

/// Both factors in one matrix, by place in the order of elimination: rows hold A before their
/// elimination, and then L without its diagonal of ones and U. Columns ascend strictly, and the
/// diagonal is there.
template <class T>
struct factor_rows {
    std::int64_t rows = 0;
    std::int64_t nonzeros = 0;
    const std::int64_t* offsets = nullptr;   ///< [rows + 1]
    const std::int32_t* columns = nullptr;   ///< [nonzeros] places
    const std::int32_t* diagonals = nullptr; ///< [rows] entries before the diagonal
    T* values = nullptr;
    failure_words* failures = nullptr;
    /// Whether M is to be symmetric: L is then U' D^-1, whatever A has below its diagonal, and
    /// pivots must be positive.
    bool symmetric = false;
};

/// The first of the ascending entries [begin, end) whose column is not below `column`.
[[nodiscard]] KRYLITH_HD inline std::int64_t
first_from(const std::int32_t* columns, std::int64_t begin, std::int64_t end, std::int32_t column) {
    while (begin < end) {
        const std::int64_t middle = begin + (end - begin) / 2;
        if (columns[middle] < column)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

/// The lanes that eliminate a row together. sync() makes what they wrote known to each other.
struct one_lane {
    static constexpr int lane = 0;
    static constexpr int lanes = 1;
    KRYLITH_HD void sync() const {}
};

/// Subtracts l times the entries [from, from_end) of another row from those entries of the own row,
/// [to, to_end), that have their columns. Where one piece is much longer it is searched.
template <class T, class Team>
KRYLITH_HD void subtract_row(const factor_rows<T>& a, T l, std::int64_t from, std::int64_t from_end,
                             std::int64_t to, std::int64_t to_end, const Team& team) {
    constexpr std::int64_t much = 8;
    const std::int64_t others = from_end - from;
    const std::int64_t owns = to_end - to;
    if (team.lanes == 1 && others <= much * owns && owns <= much * others) {
        while (from < from_end && to < to_end) {
            const std::int32_t other = a.columns[from];
            const std::int32_t own = a.columns[to];
            if (other == own) a.values[to] -= l * a.values[from];
            if (other <= own) ++from;
            if (own <= other) ++to;
        }
    } else if (others <= owns) {
        for (from += team.lane; from < from_end; from += team.lanes) {
            const std::int64_t at = first_from(a.columns, to, to_end, a.columns[from]);
            if (at < to_end && a.columns[at] == a.columns[from]) a.values[at] -= l * a.values[from];
        }
    } else {
        for (to += team.lane; to < to_end; to += team.lanes) {
            const std::int64_t at = first_from(a.columns, from, from_end, a.columns[to]);
            if (at < from_end && a.columns[at] == a.columns[to]) a.values[to] -= l * a.values[at];
        }
    }
}

/// What the elimination of a row must know of one that is done.
template <class T>
struct other_row {
    std::int64_t pivot = 0; ///< the place of its diagonal entry
    std::int64_t end = 0;
    T value = 0; ///< of the pivot

    other_row() = default;
    KRYLITH_HD other_row(const factor_rows<T>& a, std::int32_t row)
        : pivot(a.offsets[row] + a.diagonals[row]),
          end(a.offsets[row + 1]),
          value(a.values[pivot]) {}
};

/// So many are looked up at once on GPUs, where each lookup waits for the memory twice.
#ifdef __CUDA_ARCH__
inline constexpr int others_ahead = 4;
#else
inline constexpr int others_ahead = 1;
#endif

/// Eliminates a row whose lower columns are places of rows that are done: the form by rows of
/// ILU(0) (Saad, Iterative Methods for Sparse Linear Systems, algorithm 10.4). Products are
/// subtracted from an entry in the order of places, whatever the number of lanes. What fails is
/// noted and divided by all the same.
template <class T, class Team>
KRYLITH_HD void eliminate_row(const factor_rows<T>& a, std::int64_t row, const Team& team) {
    const std::int64_t begin = a.offsets[row];
    const std::int64_t end = a.offsets[row + 1];
    const std::int64_t diagonal = begin + a.diagonals[row];
    bool finite = true;
    const auto eliminate = [&](std::int64_t p, const other_row<T>& other) {
        T value = a.values[p];
        if (a.symmetric) {
            const std::int64_t mirror =
                first_from(a.columns, other.pivot + 1, other.end, static_cast<std::int32_t>(row));
            if (mirror < other.end && a.columns[mirror] == row)
                value = a.values[mirror];
            else
                raise_shared(&a.failures->unmirrored, failure_at(row));
        }
        const T l = value / other.value;
        team.sync(); // before others lose the value
        if (team.lane == 0) a.values[p] = l;
        finite = finite && is_finite(l);
        if (l != 0)
            subtract_row(a, l, other.pivot + 1, other.end, a.symmetric ? diagonal : p + 1, end,
                         team);
        team.sync();
    };
    for (std::int64_t first = begin; first < diagonal; first += others_ahead) {
        other_row<T> others[others_ahead];
        for (int u = 0; u < others_ahead; ++u)
            others[u] = {a, a.columns[first + u < diagonal ? first + u : first]};
        for (int u = 0; u < others_ahead; ++u)
            if (first + u < diagonal) eliminate(first + u, others[u]);
    }
    const T pivot = a.values[diagonal];
    for (std::int64_t q = diagonal + team.lane; q < end; q += team.lanes)
        finite = finite && is_finite(a.values[q]);
    if (!finite || pivot == 0 || (a.symmetric && !(pivot > 0)))
        raise_shared(&a.failures->pivots, failure_at(row));
}

} // namespace krylith::incomplete
