// New values of the matrix in levels that are there.
#include <algorithm>
#include <span>
#include <vector>

#include <krylith/comm/local/settled_on_failure.hpp>
#include <krylith/device/error.hpp>
#include <krylith/device/threads/interruption.hpp>
#include <krylith/distributed/products/whole_matrix.hpp>
#include <krylith/distributed/source/memory_items.hpp>
#include <krylith/precond/amg/hierarchy.hpp>
#include <krylith/precond/amg/level_operators.hpp>
#include <krylith/precond/coarsening/grid_product.hpp>
#include <krylith/precond/coarsening/grid_restriction.hpp>

namespace krylith::detail {

namespace {

/// Gives the values of each rank to update_on_devices(); devices that the matrix is not on have no
/// rows.
template <class W>
void update_values(matrix_operator<W>& of, const distributed_csr<W>& matrix) {
    std::vector<const W*> values(static_cast<std::size_t>(of.comm().ranks()), nullptr);
    for (const int rank : matrix.comm().local())
        values[static_cast<std::size_t>(rank)] = matrix.block(rank).view().values;
    of.update_on_devices(std::span<const W* const>(values));
}

/// A matrix of the pattern, with room for values.
template <class W>
distributed_csr<W> with_room(const distributed_csr<W>& pattern) {
    return pattern.template with_values<W>(matrix_item, [](int /*rank*/, W* /*values*/) {});
}

/// Makes room for the values of a matrix that has none.
template <class W>
void make_room(distributed_csr<W>& matrix) {
    const auto lacks = [&](int rank) {
        return matrix.block(rank).nonzeros() != 0 && matrix.block(rank).view().values == nullptr;
    };
    if (matrix.comm().any(std::ranges::any_of(matrix.comm().local(), lacks)))
        matrix = with_room(matrix);
}

/// Computes the values of R (B P).
template <class W>
void refresh_galerkin(const multigrid_level<W>& level, const level_plans<W>& plans,
                      distributed_csr<W>& product) {
    if (const aggregation::grid_boxes* const boxes = plans.to_next->boxes())
        return aggregation::refresh_grid_product(*boxes, level.restriction, level.matrix,
                                                 level.prolongation, product);
    distributed_csr<W> between = with_room(plans.between);
    plans.first->refresh(level.matrix, level.prolongation, between);
    plans.second->refresh(level.restriction, between, product);
}

} // namespace

template <class W>
template <class T>
bool hierarchy<W>::update(const distributed_csr<T>& a, const amg_options& options) {
    try {
        return a.comm().together([&] {                  // all drivers free values, or none
            const settled_on_failure settled(a.comm()); // before they are freed
            return take_values(a, options);
        });
    } catch (...) {
        for (multigrid_level<W>& level : levels_) drop_unread(level, options);
        throw;
    }
}

template <class W>
template <class T>
bool hierarchy<W>::take_values(const distributed_csr<T>& a, const amg_options& options) {
    multigrid_level<W>& first = levels_.front();
    const bool looked_for = looks_for_symmetry(first, options);
    first.scaling = scaling_of(a, {"amg", 0, fine_.get()});
    whole_ = false; // until all has new values
    mirror_sums mirrored;
    if (first.matrix.rows() == 0)
        first.matrix = scaled<W>(a, first.scaling, looked_for ? &mirrored : nullptr);
    else
        scale(a, first.scaling, first.matrix, looked_for ? &mirrored : nullptr);
    if (looked_for && mirrored.differ(a.nonzeros()) != unsymmetric_) return false;
    if (worth_sharpening(first.scaling)) sharpen(first.matrix, first.scaling, least_bound());
    find_near_null();
    if (sizeof(W) < sizeof(T) && loses_soft()) return false;
    if (relaxed_to_ && !leaves(0, *relaxed_to_)) return false;
    for (std::size_t at = 0; at < levels_.size(); ++at) {
        interruption_point();
        multigrid_level<W>& level = levels_[at];
        level.facts.bound = level.scaling.bound;
        if (level.plans && !update_next(at, options)) return false;
        if (level.inverse) {
            level.inverse->update(inverse_of(level, unsymmetric_, indefinite_).values);
            if (sizeof(W) < sizeof(T) && indefinite_) return false;
        } else {
            round_matrix(level, options); // nothing needs its exact values any more
            update_values(*level.b, level.matrix);
            level.facts.format = format_in_words(*level.b);
        }
        drop_unread(level, options);
    }
    return true;
}

/// Updates the transfers of a level, and the matrix of the next; false where that can't be scaled.
template <class W>
bool hierarchy<W>::update_next(std::size_t at, const amg_options& options) {
    multigrid_level<W>& level = levels_[at];
    level_plans<W>& plans = *level.plans;
    make_room(level.prolongation);
    make_room(level.restriction);
    if (options.reuse == multigrid_reuse::transfer) {
        const auto near_null = pointers(level.near_null);
        if (plans.unsymmetric) {
            plans.unsymmetric->refresh(plans.aggregates(), level.matrix, near_null,
                                       level.prolongation);
            plans.transposition->apply(plans.unsymmetric->smoothed, level.restriction);
        } else {
            if (level.scaling.sharp) plans.to_next->know_bound(level.scaling.bound);
            plans.to_next->refresh(level.matrix, near_null, level.prolongation);
            if (const aggregation::grid_boxes* const boxes = plans.to_next->boxes())
                aggregation::refresh_grid_restriction(*boxes, level.prolongation,
                                                      level.restriction);
            else
                plans.transposition->apply(level.prolongation, level.restriction);
        }
    }
    multigrid_level<W>& next = levels_[at + 1];
    make_room(next.matrix);
    distributed_csr<W>& coarse = level.copy ? level.spread : next.matrix;
    if (plans.sparse) {
        distributed_csr<W> galerkin = with_room(plans.sparse->pattern());
        refresh_galerkin(level, plans, galerkin);
        plans.sparse->refresh(*plans.to_next, galerkin, coarse);
    } else {
        refresh_galerkin(level, plans, coarse);
        plans.to_next->fill_dropped(coarse);
    }
    if (level.copy) bring_values(0, coarse, next.matrix.block(0).values());
    try {
        next.scaling = next.matrix.comm().together(
            [&] { return scale_coarse(next.matrix, at + 1, least_bound()); });
    } catch (const input_error&) {
        return false;
    }
    if (options.reuse == multigrid_reuse::transfer)
        scale_near_null(*plans.to_next, level, next);
    else
        rescale_near_null(next);
    scale_transfers_of(level, next, level.prolongation, level.restriction);
    update_values(*level.prolong, level.prolongation);
    update_values(*level.restrict, level.restriction);
    return true;
}

#define KRYLITH_INSTANTIATE(W, T)                                                                  \
    template bool hierarchy<W>::update(const distributed_csr<T>&, const amg_options&);

KRYLITH_INSTANTIATE(double, double)
KRYLITH_INSTANTIATE(float, double)
KRYLITH_INSTANTIATE(float, float)
#undef KRYLITH_INSTANTIATE

} // namespace krylith::detail
