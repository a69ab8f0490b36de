// What finds the cuts between columns: tasks and steps for hosts and GPUs.
#pragma once

#include <cstdint>

#include <krylith/device/kernel/all_reduce_slots.hpp>
#include <krylith/device/kernel/annotations.hpp>
#include <krylith/device/loops/shared_numbers.hpp>
#include <krylith/partition/nonzero/cut_place.hpp>

namespace krylith {

/// Orders the entries of a rank by columns, and those of a column as the matrix does.
[[nodiscard]] KRYLITH_HD constexpr std::int64_t entry_key(std::int64_t column, std::int64_t entry) {
    return column * (std::int64_t{1} << 32) + entry;
}

/// Adds up the entries of columns.
struct count_columns {
    const std::int32_t* columns;
    std::int32_t* counts;
    KRYLITH_HD void operator()(std::int64_t k) const { add_shared(counts + columns[k], 1); }
};

/// How many entries each column has on each rank, for running sums.
struct counts_of_ranks {
    const std::int32_t* of[max_ranks];
    std::int32_t ranks;
    [[nodiscard]] KRYLITH_HD std::int64_t operator()(std::int64_t column) const {
        std::int64_t sum = 0;
        for (int rank = 0; rank < ranks; ++rank) sum += of[rank][column];
        return sum;
    }
};

/// A cut, and where it is inside of a column, what tells the rank that has the first entry at it.
struct found_cut {
    cut_place place;
    std::int64_t before;            ///< entries of the column that lie before the cut
    std::int32_t counts[max_ranks]; ///< those that each rank has of it
};

struct find_cut {
    const std::int64_t* offsets; ///< of columns
    std::int64_t columns;
    counts_of_ranks counts;
    const std::int64_t* cuts;
    found_cut* found;
    KRYLITH_HD void operator()(std::int64_t k) const {
        found_cut cut{};
        cut.place = find_cut_place(offsets, columns, cuts[k]);
        if (cut.place.inside) {
            const std::int64_t column = cut.place.first - 1;
            cut.before = cuts[k] - offsets[column];
            for (int rank = 0; rank < counts.ranks; ++rank)
                cut.counts[rank] = counts.of[rank][column];
        }
        found[k] = cut;
    }
};

/// The entries of a rank in stretches of equal length: a search for an entry of some column looks
/// into one of them.
inline constexpr std::int64_t stretch_length = 512;

/// Counts the entries of a column in each stretch.
struct count_in_stretches {
    using part_type = std::int32_t;
    const std::int32_t* columns;
    std::int64_t entries;
    std::int32_t column;
    std::int32_t* counts;

    KRYLITH_HD static std::int32_t join(std::int32_t one, std::int32_t other) {
        return one + other;
    }
    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    [[nodiscard]] KRYLITH_HD std::int32_t part(std::int64_t stretch, int lane, int lanes) const {
        const std::int64_t begin = stretch * stretch_length;
        const std::int64_t left = entries - begin;
        const std::int64_t length = left < stretch_length ? left : stretch_length;
        std::int32_t count = 0;
        for (std::int64_t k = lane; k < length; k += lanes)
            count += columns[begin + k] == column ? 1 : 0;
        return count;
    }
    [[nodiscard]] KRYLITH_HD bool finish(std::int64_t stretch, std::int32_t count) const {
        counts[stretch] = count;
        return false;
    }
};

/// Finds the entry of a column that has so many others of it before it on the rank. One item.
struct seek_entry {
    const std::int32_t* columns;
    const std::int64_t* sums; ///< [stretches + 1] of the counts of stretches
    std::int64_t stretches;
    std::int32_t column;
    std::int64_t before; ///< less than there are
    std::int64_t* key;
    KRYLITH_HD void operator()(std::int64_t) const {
        std::int64_t stretch = 0; // the last one with at most `before` entries in front of it
        std::int64_t end = stretches;
        while (end - stretch > 1) {
            const std::int64_t middle = stretch + (end - stretch) / 2;
            (sums[middle] <= before ? stretch : end) = middle;
        }
        std::int64_t left = before - sums[stretch];
        std::int64_t k = stretch * stretch_length;
        for (; columns[k] != column || left != 0; ++k) left -= columns[k] == column ? 1 : 0;
        *key = entry_key(column, k);
    }
};

} // namespace krylith
