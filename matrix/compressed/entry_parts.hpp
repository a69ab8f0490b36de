// The entries of a compressed matrix in equal parts, which begin and end inside of rows too, so
// that no row is too long for its thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <krylith/matrix/compressed/compressed_pattern.hpp>

namespace krylith {

/// An entry, and the major index that it has; at the end of all, their numbers.
struct entry_place {
    std::int64_t entry;
    std::int64_t major;
};

/// Where each of `parts` parts begins, whose numbers of entries differ by one at most, and an end.
/// O(parts log majors).
[[nodiscard]] std::vector<entry_place> divide_entries(const compressed_pattern& a, int parts);

/// Calls body(major, first, last) for each major index from `begin` to `end`, also those without
/// entries, with the range of its entries that lies there. A major index that is cut is in several
/// parts; where `first` is not its offset, it began in an earlier one.
template <class Body>
void for_each_row(const std::int64_t* offsets, entry_place begin, entry_place end,
                  const Body& body) {
    std::int64_t first = begin.entry;
    for (std::int64_t major = begin.major; major < end.major || first < end.entry; ++major) {
        const std::int64_t last = std::min(offsets[major + 1], end.entry);
        body(major, first, last);
        first = last;
    }
}

} // namespace krylith
