// The tentative prolongation of several near-null vectors.
#pragma once

#include <span>
#include <vector>

#include <krylith/precond/coarsening/aggregation_parts.hpp>
#include <krylith/precond/coarsening/smoothed_aggregation.hpp>

namespace krylith::aggregation {

/// Makes T on all local columns of `a`, [local columns][vectors], of which the owned ones are
/// right, and the coarse near-null vectors in parts[rank].coarse, [aggregates][vectors][vectors].
template <class T>
[[nodiscard]] std::vector<buffer<T>>
make_factors(const distributed_csr<T>& a, const distributed_csr<T>& nodes, rank_parts<T>& parts,
             const row_partition& aggregates, const aggregation_options& options,
             std::span<const T* const> near_null);

} // namespace krylith::aggregation
