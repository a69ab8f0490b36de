// Steps that lay out the rows and columns that a rank owns in the order of elimination
// (precond/coarsening/row_steps.hpp has what a step is).
#pragma once

#include <cstdint>

#include <krylith/precond/coarsening/pair_steps.hpp>
#include <krylith/precond/coarsening/rank_rows.hpp>
#include <krylith/precond/incomplete/eliminate_row.hpp>

namespace krylith::incomplete {

/// The rows of a rank by place. Both arrays are null where places are rows.
struct placed_rows {
    aggregation::rank_rows a;
    const std::int32_t* order = nullptr;  ///< [rows] the row at a place
    const std::int32_t* places = nullptr; ///< [rows] the place of a row

    [[nodiscard]] KRYLITH_HD std::int64_t row_at(std::int64_t place) const {
        return order != nullptr ? order[place] : place;
    }
    /// Of a local column that the rank owns.
    [[nodiscard]] KRYLITH_HD std::int32_t place_of(std::int32_t column) const {
        const std::int32_t row = column - a.columns.below;
        return places != nullptr ? places[row] : row;
    }
};

/// Turns an order round.
struct place_step : aggregation::writes_only {
    const std::int32_t* order;
    std::int32_t* places;

    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    KRYLITH_HD bool finish(std::int64_t place, std::uint32_t) const {
        places[order[place]] = static_cast<std::int32_t>(place);
        return false;
    }
};

/// Counts the owned columns of a row, and its diagonal where that lacks.
struct count_owned_step {
    placed_rows rows;
    std::int32_t* counts;

    struct part_type {
        std::int32_t owned = 0;
        std::int32_t diagonals = 0;
    };
    KRYLITH_HD static part_type join(part_type one, part_type other) {
        return {one.owned + other.owned, one.diagonals + other.diagonals};
    }
    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    [[nodiscard]] KRYLITH_HD part_type part(std::int64_t place, int lane, int lanes) const {
        const std::int64_t row = rows.row_at(place);
        const std::int64_t end = rows.a.offsets[row + 1];
        part_type found;
        for (std::int64_t k = rows.a.offsets[row] + lane; k < end; k += lanes) {
            found.owned += rows.a.columns.owns(rows.a.indices[k]) ? 1 : 0;
            found.diagonals += rows.a.indices[k] == rows.a.own(row) ? 1 : 0;
        }
        return found;
    }
    KRYLITH_HD bool finish(std::int64_t place, part_type found) const {
        counts[place] = found.owned + (found.diagonals == 0 ? 1 : 0);
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

/// Lays out the rows: columns ascend, the diagonal is there and has its shift.
template <class T>
struct fill_owned_step : aggregation::writes_only {
    placed_rows rows;
    const T* from;
    T shift; ///< times the largest magnitude of the row
    const std::int64_t* offsets;
    std::int32_t* columns;
    std::int32_t* diagonals;
    T* values;
    failure_words* failures;

    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    KRYLITH_HD bool finish(std::int64_t place, std::uint32_t) const {
        const std::int64_t row = rows.row_at(place);
        const auto own = static_cast<std::int32_t>(place);
        const std::int64_t begin = offsets[place];
        const std::int64_t end = offsets[place + 1];
        std::int64_t to = begin;
        T largest = 0;
        bool finite = true;
        bool ascends = true;
        bool lacks_diagonal = true;
        const auto put = [&](std::int32_t column, T value) {
            ascends = ascends && (to == begin || columns[to - 1] < column);
            columns[to] = column;
            values[to++] = value;
        };
        for (std::int64_t k = rows.a.offsets[row]; k < rows.a.offsets[row + 1]; ++k) {
            const std::int32_t local = rows.a.indices[k];
            finite = finite && is_finite(from[k]);
            if (!rows.a.columns.owns(local)) continue;
            const std::int32_t column = rows.place_of(local);
            lacks_diagonal = lacks_diagonal && column != own;
            const T magnitude = from[k] < 0 ? -from[k] : from[k];
            if (magnitude > largest) largest = magnitude;
            put(column, from[k]);
        }
        if (lacks_diagonal) put(own, T(0));
        if (!ascends) sort_entries(columns + begin, values + begin, end - begin);
        const std::int64_t diagonal = first_from(columns, begin, end, own);
        diagonals[place] = static_cast<std::int32_t>(diagonal - begin);
        values[diagonal] += values[diagonal] < 0 ? -shift * largest : shift * largest;
        if (!finite) aggregation::raise_shared(&failures->entries, failure_at(row));
        return false;
    }
};

/// Compares a pattern with another one.
struct same_pattern_step : aggregation::writes_only {
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
        if (!same) aggregation::raise_shared(differs, std::uint32_t{1});
        return false;
    }
};

} // namespace krylith::incomplete
