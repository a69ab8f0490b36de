// Where a cut between entries falls among the major indices of a matrix in compressed form: found
// on hosts and on GPUs.
#pragma once

#include <cstdint>

#include <krylith/device/kernel/annotations.hpp>

namespace krylith {

/// The major indices that can be the first to begin at or after a cut. Those before `last` have no
/// entries.
struct cut_place {
    std::int64_t first = 0;
    std::int64_t last = 0;
    bool inside = false; ///< the one before them goes on after the cut; then first == last

    friend bool operator==(const cut_place&, const cut_place&) = default;
};

/// Finds the place of a cut, 0 <= cut <= offsets[majors], in offsets that ascend from 0.
/// O(log majors).
[[nodiscard]] KRYLITH_HD inline cut_place find_cut_place(const std::int64_t* offsets,
                                                         std::int64_t majors, std::int64_t cut) {
    std::int64_t begin = 0;
    std::int64_t end = majors;
    while (begin < end) { // the first that begins at or after the cut
        const std::int64_t middle = begin + (end - begin) / 2;
        if (offsets[middle] < cut)
            begin = middle + 1;
        else
            end = middle;
    }
    cut_place place{begin, begin, offsets[begin] != cut};
    if (place.inside) return place;
    end = majors;
    while (begin < end) { // the last that begins at it
        const std::int64_t middle = end - (end - begin) / 2;
        if (offsets[middle] > cut)
            end = middle - 1;
        else
            begin = middle;
    }
    place.last = begin;
    return place;
}

} // namespace krylith
