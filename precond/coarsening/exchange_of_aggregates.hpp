// Arrays with numbers for each aggregate. Each rank is right about the aggregates that it owns, or
// has a part of every sum; of the others it needs, and has parts of, what its rows refer to. It has
// memory for these alone (aggregate_array.hpp).
#pragma once

#include <vector>

#include <krylith/comm/exchange/exchange.hpp>
#include <krylith/partition/row_partition.hpp>

namespace krylith::aggregation {

/// The exchange of these arrays. used[rank], of local ranks, has the aggregates of other ranks that
/// the rank's rows refer to, and maybe more. Collective.
[[nodiscard]] exchange exchange_of_aggregates(const communicator& comm,
                                              const row_partition& aggregates,
                                              std::vector<row_range> used);

} // namespace krylith::aggregation
