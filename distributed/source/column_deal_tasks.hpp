// What puts the entries of a rank in order by their holders: tasks for hosts and GPUs. Each entry
// is an item, so that rows of any lengths cost the same.
#pragma once

#include <cstdint>

#include <krylith/device/kernel/annotations.hpp>
#include <krylith/distributed/source/column_cut_tasks.hpp>

namespace krylith {

/// 1 for entries that lie before a cut, for running sums.
struct lies_before {
    const std::int32_t* columns;
    const std::int64_t* key;
    [[nodiscard]] KRYLITH_HD std::int32_t operator()(std::int64_t k) const {
        return entry_key(columns[k], k) < *key ? 1 : 0;
    }
};

/// How many of the first k entries lie before a cut. Those of the cuts at both ends of a matrix
/// need no sums.
struct entries_before {
    const std::int32_t* sums; ///< [entries + 1]; null: all or none
    bool all;
    [[nodiscard]] KRYLITH_HD std::int32_t operator()(std::int64_t k) const {
        if (sums != nullptr) return sums[k];
        return all ? static_cast<std::int32_t>(k) : 0;
    }
};

/// Lists the entries between two cuts behind those that lie before the first of these.
struct list_piece {
    const std::int32_t* columns;
    std::int64_t entries;
    const std::int64_t* keys; ///< of both cuts
    entries_before lower;
    entries_before upper;
    std::int32_t* order;
    std::int32_t* listed; ///< their columns
    KRYLITH_HD void operator()(std::int64_t k) const {
        const std::int32_t column = columns[k];
        const std::int64_t key = entry_key(column, k);
        if (key < keys[0] || key >= keys[1]) return;
        const std::int32_t place = lower(entries) + upper(k) - lower(k);
        order[place] = static_cast<std::int32_t>(k);
        listed[place] = column;
    }
};

/// Finds where rows begin in the piece between two cuts, the size of which stands behind the last.
struct start_rows {
    const std::int64_t* offsets;
    std::int64_t rows;
    std::int64_t entries;
    entries_before lower;
    entries_before upper;
    std::int32_t* starts; ///< [rows + 1]
    std::int32_t* size;
    KRYLITH_HD void operator()(std::int64_t row) const {
        const std::int64_t k = row < rows ? offsets[row] : entries;
        starts[row] = upper(k) - lower(k);
        if (row == rows) *size = starts[row];
    }
};

/// Makes offsets of the starts of rows in a piece, before which the holder has so many entries.
struct offset_piece {
    const std::int32_t* starts; ///< null: it is empty
    std::int64_t before;
    std::int64_t* offsets;
    KRYLITH_HD void operator()(std::int64_t row) const {
        offsets[row] = before + (starts != nullptr ? starts[row] : 0);
    }
};

} // namespace krylith
