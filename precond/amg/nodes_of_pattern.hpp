// The rows of a node, where nobody has said them.
#pragma once

#include <krylith/distributed/distributed_csr.hpp>
#include <krylith/vector/layout.hpp>

namespace krylith::detail {

/// The rows of a node as the pattern shows them (find_block_size()) where A, whose diagonal is
/// positive, is symmetric up to rounding; else 1. Cost: up to 16 downloads of a few kilobytes, and
/// a pass over A where there are nodes of several rows. Throws as scaling_of() does there,
/// with the caller's numbers of rows, which the layout has.
template <class T>
[[nodiscard]] int symmetric_block_size(const distributed_csr<T>& a, const layout& rows);

} // namespace krylith::detail
