// The entries of a vector as those of another one, for operators that a preconditioner keeps.
#pragma once

#include <memory>
#include <span>

#include <krylith/precond/preconditioner.hpp>
#include <krylith/vector/vector.hpp>

namespace krylith::detail {

/// Returns the layout of the same rows in the order in which they lie: the same one where it has no
/// order of its own.
[[nodiscard]] inline layout_handle without_order(const layout_handle& layout) {
    if (!layout->order) return layout;
    return std::make_shared<const krylith::layout>(
        krylith::layout{layout->comm, layout->rows, layout->kind});
}

/// Borrows the arrays of `v` for a vector of a layout of the same rows. It has no ghosts: those of
/// a domain vector are another reader's.
template <class T>
[[nodiscard]] vector<T> same_entries(const layout_handle& as, const vector<T>& v) {
    return vector<T>::borrow(as, by_rank(as->comm, [&](int rank) { return v.data(rank); }));
}

/// Applies apply(r, z, dots) to vectors of the layout `own`, of the same rows as those of r and z
/// in the order in which they lie: to r and z themselves where they have no order of their own.
template <class T, class Apply>
void apply_without_order(execution& run, const layout_handle& own, const vector<T>& r, vector<T>& z,
                         std::span<const reduction_into<T>> dots, const Apply& apply) {
    if (!r.layout()->order) return apply(r, z, dots);
    vector<T> to = same_entries(own, z);
    apply(same_entries(own, r), to, {});
    finish_apply(run, z, dots);
}

} // namespace krylith::detail
