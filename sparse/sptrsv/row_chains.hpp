// Rows of a triangle in the order in which host threads solve them.
//
// A *chain* is a few neighbouring rows each of which depends on the one before: a piece of a line
// of a grid. One thread solves it, from the cache, so chains and not rows are sorted by level: the
// level of a chain is 1 more than the highest among those that its rows depend on, or 0.
#pragma once

#include <cstdint>
#include <vector>

#include <krylith/sparse/sptrsv/triangle_source.hpp>

namespace krylith {

struct rows_by_chain {
    std::int64_t depth = 0;              ///< the longest chain of rows of any kind: levels of rows
    std::vector<std::int32_t> order;     ///< [rows] the row at each place
    std::vector<std::int64_t> chains{0}; ///< [chains + 1] the first place of each
    std::vector<std::int64_t> levels{0}; ///< [levels + 1] the first chain of each level
};

/// Chains have up to `longest` rows. O(rows + nonzeros), by one thread.
template <class T>
[[nodiscard]] rows_by_chain sort_chains(const triangle_source<T>& a, std::int64_t longest = 64);

} // namespace krylith
