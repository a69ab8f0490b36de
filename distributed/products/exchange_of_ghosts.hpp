// The exchange of what the owners of columns have for the ranks where these columns are ghosts.
#pragma once

#include <span>

#include <krylith/comm/exchange/exchange.hpp>
#include <krylith/distributed/distributed_csr.hpp>
#include <krylith/distributed/source/local_columns.hpp>

namespace krylith {

/// Returns the exchange whose arrays have a number, or several, for each local column: those of the
/// owned columns are the items, ordered by user, then by owner. `columns[rank]` are those of the
/// rank; all their owned ranges together are a partition. It uses their lists. Costs
/// O(ranks^2 log(ghosts)) on the host. Collective.
[[nodiscard]] exchange exchange_of_ghosts(const communicator& comm,
                                          std::span<const local_columns> columns,
                                          exchange::lists where = exchange::lists::where_used);

/// The exchange for the columns of a matrix.
template <class T>
[[nodiscard]] exchange exchange_of_ghosts(const distributed_csr<T>& a) {
    return exchange_of_ghosts(a.comm(), a.all_columns());
}

} // namespace krylith
