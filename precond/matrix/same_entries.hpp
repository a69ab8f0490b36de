// The entries of a vector as those of another one, for operators that a preconditioner keeps.
#pragma once

#include <memory>
#include <vector>

#include <krylith/vector/vector.hpp>

namespace krylith::detail {

/// Returns the layout of the same rows in the order in which they lie: the same one where it has no
/// order of its own.
[[nodiscard]] inline layout_handle without_order(const layout_handle& layout) {
    if (!layout->order) return layout;
    return std::make_shared<const krylith::layout>(
        krylith::layout{layout->group, layout->rows, layout->kind});
}

/// Borrows the arrays of `v` for a vector of a layout of the same rows. It has no ghosts: those of
/// a domain vector are another reader's.
template <class T>
[[nodiscard]] vector<T> same_entries(const layout_handle& as, const vector<T>& v) {
    std::vector<T*> arrays;
    for (int rank = 0; rank < as->group.size(); ++rank) arrays.push_back(v.data(rank));
    return vector<T>::borrow(as, arrays);
}

} // namespace krylith::detail
