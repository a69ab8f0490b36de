// The order in which groups of rows are multiplied: those of the boundary come last, and those that
// no other device needs come in between, while results of the others are sent.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace krylith {

struct boundary_order {
    std::vector<std::int32_t> groups; ///< empty: the natural order
    std::int32_t interior = 0;        ///< groups before the first of the boundary
};

/// Returns the order; `on_boundary(g)` says whether group g of `count` is of the boundary.
template <class OnBoundary>
[[nodiscard]] boundary_order order_groups(std::int32_t count, OnBoundary on_boundary) {
    std::vector<std::int32_t> boundary;
    boundary_order result;
    for (std::int32_t g = 0; g < count; ++g)
        if (on_boundary(g))
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

/// Returns an order that spreads the groups from `first` on evenly among those before; the natural
/// order if there are none of either kind.
[[nodiscard]] inline boundary_order spread_groups(std::int32_t count, std::int32_t first) {
    boundary_order result;
    result.interior = count;
    if (first <= 0 || first >= count) return result;
    const std::int64_t spread = count - first;
    std::int32_t before = 0;
    std::int32_t from = first;
    for (std::int64_t position = 0; position < count; ++position) {
        const bool is_due = (position + 1) * spread / count > position * spread / count;
        result.groups.push_back(is_due ? from++ : before++);
    }
    return result;
}

} // namespace krylith
