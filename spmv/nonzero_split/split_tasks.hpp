// What devices look for in the blocks of a matrix that is cut between entries.
#pragma once

#include <algorithm>
#include <cstdint>

#include <krylith/device/loops/run_items.hpp>
#include <krylith/device/loops/shared_numbers.hpp>

namespace krylith {

/// Finds the entries of the diagonal among those of listed rows, with global columns: counts them,
/// and stores their places and rows, in any order, where there is room.
struct find_diagonal_entries {
    const std::int64_t* offsets; ///< [rows + 1]
    const std::int32_t* columns;
    const std::int64_t* row_of; ///< [rows] the rows of the matrix, ascending
    std::int64_t rows;
    std::int32_t* count;
    std::int64_t* found; ///< [2 count], or null

    KRYLITH_HD void operator()(std::int64_t k) const {
        const std::int64_t column = columns[k];
        std::int64_t begin = 0; // the row that has it is among those of [begin, end)
        std::int64_t end = rows;
        while (end - begin > 1) {
            const std::int64_t middle = begin + (end - begin) / 2;
            (row_of[middle] <= column ? begin : end) = middle;
        }
        if (row_of[begin] != column || k < offsets[begin] || k >= offsets[begin + 1]) return;
        const std::int32_t at = add_shared(count, 1);
        if (found == nullptr) return;
        found[2 * std::int64_t{at}] = k;
        found[2 * std::int64_t{at} + 1] = column;
    }
};

/// Copies listed values.
template <class T>
struct pick_values {
    const std::int64_t* places;
    const T* from;
    T* to;

    KRYLITH_HD void operator()(std::int64_t k) const { to[k] = from[places[k]]; }
};

/// Which rows a device has entries of and doesn't own: their sizes are 1, and those of others 0.
struct remote_row_sizes {
    const std::int64_t* offsets; ///< of all rows
    std::int64_t own_begin;      ///< the rows that it owns
    std::int64_t own_end;

    [[nodiscard]] KRYLITH_HD std::int64_t operator()(std::int64_t row) const {
        return (row < own_begin || row >= own_end) && offsets[row + 1] > offsets[row] ? 1 : 0;
    }
};

/// Lists these rows with the ends of their entries, without the entries of own rows.
struct list_remote_rows {
    remote_row_sizes sizes;
    const std::int64_t* number; ///< [all rows] how many of them are before a row
    std::int64_t* rows;         ///< [remote rows]
    std::int64_t* ends;         ///< [remote rows]

    KRYLITH_HD void operator()(std::int64_t row) const {
        if (sizes(row) == 0) return;
        rows[number[row]] = row;
        ends[number[row]] =
            sizes.offsets[row + 1] -
            (row < sizes.own_begin ? 0
                                   : sizes.offsets[sizes.own_end] - sizes.offsets[sizes.own_begin]);
    }
};

} // namespace krylith
