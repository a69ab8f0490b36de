// The exchange of the entries that the rows of a matrix over several devices refer to.
#pragma once

#include <memory>
#include <span>

#include <krylith/distributed/source/local_columns.hpp>
#include <krylith/vector/ghosts/ghost_exchange.hpp>
#include <krylith/vector/layout.hpp>

namespace krylith::detail {

/// All ghosts of the columns of each rank, for vectors of an owned layout; null where there are
/// none. Collective.
template <class T>
[[nodiscard]] std::shared_ptr<const put_schedule<T>>
exchange_of(const layout_handle& layout, std::span<const local_columns> columns);

} // namespace krylith::detail
