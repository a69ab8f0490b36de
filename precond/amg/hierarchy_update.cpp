// New values of the matrix in levels that are there.
#include <span>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/distributed/products/whole_matrix.hpp>
#include <krylith/precond/amg/hierarchy.hpp>
#include <krylith/precond/amg/level_operators.hpp>

namespace krylith::detail {

namespace {

/// Gives the values of each rank to update_on_devices(); devices that the matrix is not on have no
/// rows.
template <class W>
void update_values(matrix_operator<W>& of, const distributed_csr<W>& matrix) {
    std::vector<const W*> values(static_cast<std::size_t>(of.group().size()), nullptr);
    for (int rank = 0; rank < matrix.group().size(); ++rank)
        values[static_cast<std::size_t>(rank)] = matrix.block(rank).view().values;
    of.update_on_devices(std::span<const W* const>(values));
}

/// What a matrix that is not symmetric is always coarsened by.
template <class W>
smoothed_aggregation<W>& aggregates_of(level_plans<W>& plans) {
    return static_cast<smoothed_aggregation<W>&>(*plans.to_next);
}

} // namespace

template <class W>
template <class T>
bool hierarchy<W>::update(const distributed_csr<T>& a, const amg_options& options) {
    multigrid_level<W>& first = levels_.front();
    const bool looked_for = looks_for_symmetry(first, options);
    first.scaling = scaling_of(a, {"amg", 0, fine_.get()});
    whole_ = false; // until all has new values
    mirror_sums mirrored;
    scale(a, first.scaling, first.matrix, looked_for ? &mirrored : nullptr);
    if (looked_for && mirrored.differ(a.nonzeros()) != unsymmetric_) return false;
    if (worth_sharpening(first.scaling)) sharpen(first.matrix, first.scaling, least_bound());
    find_near_null();
    if (sizeof(W) < sizeof(T) && loses_soft()) return false;
    for (std::size_t at = 0; at < levels_.size(); ++at) {
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
    }
    return true;
}

/// Updates the transfers of a level, and the matrix of the next; false where that can't be scaled.
template <class W>
bool hierarchy<W>::update_next(std::size_t at, const amg_options& options) {
    multigrid_level<W>& level = levels_[at];
    level_plans<W>& plans = *level.plans;
    if (options.reuse == multigrid_reuse::transfer) {
        const auto near_null = pointers(level.near_null);
        if (plans.unsymmetric) {
            plans.unsymmetric->refresh(aggregates_of(plans), level.matrix, near_null,
                                       plans.prolongation);
            plans.transposition.apply(plans.unsymmetric->smoothed, plans.restriction);
        } else {
            if (level.scaling.sharp) plans.to_next->know_bound(level.scaling.bound);
            plans.to_next->refresh(level.matrix, near_null, plans.prolongation);
            plans.transposition.apply(plans.prolongation, plans.restriction);
        }
    }
    multigrid_level<W>& next = levels_[at + 1];
    distributed_csr<W>& coarse = level.gathered ? level.gathered->matrix : next.matrix;
    plans.first.refresh(level.matrix, plans.prolongation, plans.between);
    if (plans.sparse) {
        plans.second.refresh(plans.restriction, plans.between, plans.sparse->galerkin());
        plans.sparse->refresh(*plans.to_next, coarse);
    } else {
        plans.second.refresh(plans.restriction, plans.between, coarse);
        plans.to_next->fill_dropped(coarse);
    }
    if (level.gathered) bring_values(0, coarse, next.matrix.block(0).values());
    try {
        next.scaling = scale_coarse(next.matrix, at + 1, least_bound());
    } catch (const input_error&) {
        return false;
    }
    if (options.reuse == multigrid_reuse::transfer)
        scale_near_null(*plans.to_next, level, next);
    else
        rescale_near_null(next);
    scale_transfers_of(level, next, plans.prolongation, plans.restriction);
    update_values(*level.prolong, plans.prolongation);
    update_values(*level.restrict, plans.restriction);
    return true;
}

#define KRYLITH_INSTANTIATE(W, T)                                                                  \
    template bool hierarchy<W>::update(const distributed_csr<T>&, const amg_options&);

KRYLITH_INSTANTIATE(double, double)
KRYLITH_INSTANTIATE(float, double)
KRYLITH_INSTANTIATE(float, float)
#undef KRYLITH_INSTANTIATE

} // namespace krylith::detail
