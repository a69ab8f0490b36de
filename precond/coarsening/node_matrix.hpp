// The matrix of nodes: one row a node, and one entry, the Frobenius norm, for each block.
#pragma once

#include <krylith/distributed/distributed_csr.hpp>
#include <krylith/precond/coarsening/node_rows.hpp>

namespace krylith::aggregation {

/// Makes the matrix of nodes. A is square with one partition, at multiples of `block`, and its
/// columns ascend. Waits for the devices.
template <class T>
[[nodiscard]] distributed_csr<T> make_node_matrix(const distributed_csr<T>& a, int block);

/// The rows of a rank by nodes. `nodes` is the matrix of nodes, or `a` itself for block = 1.
template <class T>
[[nodiscard]] node_rows node_rows_of(const distributed_csr<T>& a, const distributed_csr<T>& nodes,
                                     int rank, int block) {
    const device_csr_view<T> view = a.block(rank).view();
    return {{view.rows, view.offsets, view.indices, nullptr, a.columns_of(rank).numbers()},
            nodes.columns_of(rank).numbers(),
            block};
}

} // namespace krylith::aggregation
