// The order in which groups of rows are multiplied: those that read ghosts come last.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace krylith {

struct boundary_order {
    std::vector<std::int32_t> groups; ///< empty: the natural order
    std::int32_t interior = 0;        ///< groups before the first that reads ghosts
};

/// `reads(g)` says whether group g of `count` reads ghosts.
template <class Reads>
[[nodiscard]] boundary_order order_groups(std::int32_t count, Reads reads) {
    std::vector<std::int32_t> boundary;
    boundary_order result;
    for (std::int32_t g = 0; g < count; ++g)
        if (reads(g))
            boundary.push_back(g);
        else
            result.groups.push_back(g);
    result.interior = static_cast<std::int32_t>(result.groups.size());
    if (boundary.empty())
        result.groups.clear();
    else
        result.groups.insert(result.groups.end(), boundary.begin(), boundary.end());
    return result;
}

} // namespace krylith
