// Steps that lay out the rows and columns that a rank owns in the order of elimination
// (device/loops/visit_rows.hpp has what a step is).
#pragma once

#include <cstdint>

#include <krylith/device/loops/visit_rows.hpp>
#include <krylith/precond/coarsening/rank_rows.hpp>
#include <krylith/precond/incomplete/eliminate_row.hpp>

namespace krylith::incomplete {

/// The rows of a rank, and their places in the order of elimination.
struct placed_rows {
    aggregation::rank_rows a;
    const std::int32_t* places = nullptr; ///< [rows] the place of a row; null: its number

    [[nodiscard]] KRYLITH_HD std::int32_t place_of_row(std::int64_t row) const {
        return places != nullptr ? places[row] : static_cast<std::int32_t>(row);
    }
    /// Of a local column that the rank owns.
    [[nodiscard]] KRYLITH_HD std::int32_t place_of(std::int32_t column) const {
        return place_of_row(column - a.columns.below);
    }
};

/// Turns an order round.
struct place_step : writes_only {
    const std::int32_t* order;
    std::int32_t* places;

    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    KRYLITH_HD bool finish(std::int64_t place, std::uint32_t) const {
        places[order[place]] = static_cast<std::int32_t>(place);
        return false;
    }
};

/// Counts the owned columns of a row, and its diagonal where that lacks. Rows are read in their own
/// order, in which neighbours lie together; counts go to places.
struct count_owned_step {
    placed_rows rows;
    std::int32_t* counts; ///< by place

    struct part_type {
        std::int32_t owned = 0;
        std::int32_t diagonals = 0;
    };
    KRYLITH_HD static part_type join(part_type one, part_type other) {
        return {one.owned + other.owned, one.diagonals + other.diagonals};
    }
    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    [[nodiscard]] KRYLITH_HD part_type part(std::int64_t row, int lane, int lanes) const {
        const std::int64_t end = rows.a.offsets[row + 1];
        part_type found;
        for (std::int64_t k = rows.a.offsets[row] + lane; k < end; k += lanes) {
            found.owned += rows.a.columns.owns(rows.a.indices[k]) ? 1 : 0;
            found.diagonals += rows.a.indices[k] == rows.a.own(row) ? 1 : 0;
        }
        return found;
    }
    KRYLITH_HD bool finish(std::int64_t row, part_type found) const {
        counts[rows.place_of_row(row)] = found.owned + (found.diagonals == 0 ? 1 : 0);
        return false;
    }
};

/// Sorts entries by column, in place and without recursion.
template <class T>
KRYLITH_HD void sort_entries(std::int32_t* columns, T* values, std::int64_t count) {
    constexpr std::int64_t few = 32;
    const auto exchange = [&](std::int64_t i, std::int64_t j) {
        const std::int32_t column = columns[i];
        const T value = values[i];
        columns[i] = columns[j];
        values[i] = values[j];
        columns[j] = column;
        values[j] = value;
    };
    if (count <= few) {
        for (std::int64_t i = 1; i < count; ++i) {
            const std::int32_t column = columns[i];
            const T value = values[i];
            std::int64_t to = i;
            for (; to > 0 && columns[to - 1] > column; --to) {
                columns[to] = columns[to - 1];
                values[to] = values[to - 1];
            }
            columns[to] = column;
            values[to] = value;
        }
        return;
    }
    const auto sink = [&](std::int64_t root, std::int64_t size) {
        for (std::int64_t child = 2 * root + 1; child < size; child = 2 * root + 1) {
            if (child + 1 < size && columns[child + 1] > columns[child]) ++child;
            if (columns[root] >= columns[child]) return;
            exchange(root, child);
            root = child;
        }
    };
    for (std::int64_t root = count / 2 - 1; root >= 0; --root) sink(root, count);
    for (std::int64_t size = count - 1; size > 0; --size) {
        exchange(0, size);
        sink(0, size);
    }
}

/// Lays out the rows: columns ascend, the diagonal is there and has its shift. Columns of the rows
/// that are read ascend strictly. Rows are read in their own order, as they lie; each entry goes to
/// the number of those of its row with lower places, so that short rows, which lanes have in
/// registers, are written once.
template <class T>
struct fill_owned_step {
    placed_rows rows;
    const T* from;
    T shift; ///< times the largest magnitude of the row
    const std::int64_t* offsets;
    std::int32_t* columns;
    std::int32_t* diagonals;
    T* values;
    failure_words* failures;

    /// What lanes find of a row. The diagonal is written by finish().
    struct part_type {
        T largest = 0;
        T diagonal = 0;
        std::int32_t before = 0; ///< entries before the diagonal
        std::uint32_t infinite = 0;
    };
    KRYLITH_HD static part_type join(const part_type& one, const part_type& other) {
        return {one.largest > other.largest ? one.largest : other.largest,
                one.diagonal + other.diagonal, one.before + other.before,
                one.infinite | other.infinite};
    }
    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }

    [[nodiscard]] KRYLITH_HD part_type part(std::int64_t row, int lane, int lanes) const {
        const std::int64_t count = rows.a.offsets[row + 1] - rows.a.offsets[row];
        if (rows.places == nullptr) return in_order(row, lane, lanes);
        if (lanes == 1 && count <= few) return of_few(row);
        if (count <= some) return by_numbers(row, lane, lanes);
        return {};
    }
    KRYLITH_HD bool finish(std::int64_t row, const part_type& found) const {
        const std::int32_t own = rows.place_of_row(row);
        const bool is_long = rows.a.offsets[row + 1] - rows.a.offsets[row] > some;
        const part_type all = rows.places != nullptr && is_long ? by_sorting(row) : found;
        const std::int64_t diagonal = offsets[own] + all.before;
        columns[diagonal] = own;
        diagonals[own] = all.before;
        values[diagonal] =
            all.diagonal + (all.diagonal < 0 ? -shift * all.largest : shift * all.largest);
        if (all.infinite != 0) raise_shared(&failures->entries, failure_at(row));
        return false;
    }

private:
    static constexpr int few = 8;            ///< entries of a row that a lane has in registers
    static constexpr std::int64_t some = 64; ///< from which sorting takes less than counting
    static constexpr std::int32_t nowhere = 0x7fffffff;

    KRYLITH_HD static void note(part_type& found, T value) {
        const T magnitude = value < 0 ? -value : value;
        if (magnitude > found.largest) found.largest = magnitude;
    }
    KRYLITH_HD void put(std::int64_t to, std::int32_t column, T value) const {
        columns[to] = column;
        values[to] = value;
    }

    /// Where places are rows, owned columns follow each other.
    [[nodiscard]] KRYLITH_HD part_type in_order(std::int64_t row, int lane, int lanes) const {
        const std::int64_t begin = rows.a.offsets[row];
        const std::int64_t end = rows.a.offsets[row + 1];
        const std::int32_t below = rows.a.columns.below;
        const std::int32_t own = rows.a.own(row);
        const std::int64_t first = first_from(rows.a.indices, begin, end, below);
        const std::int64_t diagonal = first_from(rows.a.indices, first, end, own);
        const bool lacks = diagonal == end || rows.a.indices[diagonal] != own;
        part_type found;
        if (lane == 0) found.before = static_cast<std::int32_t>(diagonal - first);
        for (std::int64_t k = begin + lane; k < end; k += lanes) {
            const T value = from[k];
            const std::int32_t column = rows.a.indices[k];
            if (!is_finite(value)) found.infinite = 1;
            if (!rows.a.columns.owns(column)) continue;
            note(found, value);
            if (column == own)
                found.diagonal = value;
            else
                put(offsets[row] + (k - first) + (lacks && column > own ? 1 : 0), column - below,
                    value);
        }
        return found;
    }

    [[nodiscard]] KRYLITH_HD part_type of_few(std::int64_t row) const {
        const std::int64_t begin = rows.a.offsets[row];
        const std::int64_t end = rows.a.offsets[row + 1];
        const std::int32_t own = rows.place_of_row(row);
        std::int32_t place[few];
        T value[few];
        part_type found;
        bool lacks = true;
        for (int u = 0; u < few; ++u) {
            place[u] = nowhere;
            value[u] = 0;
            if (begin + u >= end) continue;
            value[u] = from[begin + u];
            const std::int32_t column = rows.a.indices[begin + u];
            if (rows.a.columns.owns(column)) place[u] = rows.place_of(column);
        }
        for (int u = 0; u < few; ++u) {
            if (!is_finite(value[u])) found.infinite = 1;
            if (place[u] == nowhere) continue;
            note(found, value[u]);
            lacks = lacks && place[u] != own;
            if (place[u] == own) found.diagonal = value[u];
            if (place[u] < own) ++found.before;
        }
        const std::int64_t to = offsets[own];
        for (int u = 0; u < few; ++u) {
            if (place[u] == nowhere || place[u] == own) continue;
            int lower = lacks && own < place[u] ? 1 : 0;
            for (int v = 0; v < few; ++v) lower += place[v] < place[u] ? 1 : 0;
            put(to + lower, place[u], value[u]);
        }
        return found;
    }

    [[nodiscard]] KRYLITH_HD part_type by_numbers(std::int64_t row, int lane, int lanes) const {
        const std::int64_t begin = rows.a.offsets[row];
        const std::int64_t end = rows.a.offsets[row + 1];
        const std::int32_t own = rows.place_of_row(row);
        part_type found;
        for (std::int64_t k = begin + lane; k < end; k += lanes) {
            const T value = from[k];
            const std::int32_t column = rows.a.indices[k];
            if (!is_finite(value)) found.infinite = 1;
            if (!rows.a.columns.owns(column)) continue;
            note(found, value);
            const std::int32_t place = rows.place_of(column);
            if (place == own) {
                found.diagonal = value;
                continue;
            }
            if (place < own) ++found.before;
            int lower = 0;
            bool lacks = true;
            for (std::int64_t other = begin; other < end; ++other) {
                if (!rows.a.columns.owns(rows.a.indices[other])) continue;
                const std::int32_t theirs = rows.place_of(rows.a.indices[other]);
                lower += theirs < place ? 1 : 0;
                lacks = lacks && theirs != own;
            }
            put(offsets[own] + lower + (lacks && own < place ? 1 : 0), place, value);
        }
        return found;
    }

    /// Of a long row, by one lane.
    [[nodiscard]] KRYLITH_HD part_type by_sorting(std::int64_t row) const {
        const std::int32_t own = rows.place_of_row(row);
        const std::int64_t begin = offsets[own];
        const std::int64_t end = offsets[own + 1];
        std::int64_t to = begin;
        part_type found;
        bool lacks = true;
        for (std::int64_t k = rows.a.offsets[row]; k < rows.a.offsets[row + 1]; ++k) {
            const T value = from[k];
            const std::int32_t column = rows.a.indices[k];
            if (!is_finite(value)) found.infinite = 1;
            if (!rows.a.columns.owns(column)) continue;
            note(found, value);
            const std::int32_t place = rows.place_of(column);
            lacks = lacks && place != own;
            if (place == own) found.diagonal = value;
            put(to++, place, value);
        }
        if (lacks) put(to, own, T(0));
        sort_entries(columns + begin, values + begin, end - begin);
        found.before = static_cast<std::int32_t>(first_from(columns, begin, end, own) - begin);
        return found;
    }
};

/// Compares a pattern with another one.
struct same_pattern_step : writes_only {
    const std::int64_t* offsets;
    const std::int32_t* columns;
    const std::int64_t* other_offsets;
    const std::int32_t* other_columns;
    std::uint32_t* differs;

    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    KRYLITH_HD bool finish(std::int64_t row, std::uint32_t) const {
        bool same =
            offsets[row] == other_offsets[row] && offsets[row + 1] == other_offsets[row + 1];
        for (std::int64_t k = offsets[row]; same && k < offsets[row + 1]; ++k)
            same = columns[k] == other_columns[k];
        if (!same) raise_shared(differs, std::uint32_t{1});
        return false;
    }
};

} // namespace krylith::incomplete
