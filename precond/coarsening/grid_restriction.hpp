// R = P' where rows are the points of a grid and P is the smoothed prolongation of boxes.
#pragma once

#include <krylith/distributed/distributed_csr.hpp>
#include <krylith/precond/coarsening/grid_boxes.hpp>

namespace krylith::aggregation {

/// Makes the transpose of P, the smoothed prolongation of boxes that have_product(), with the bits
/// of distributed_transposition. Takes 4 or 8 numbers a point meanwhile. Waits for the devices.
template <class T>
[[nodiscard]] distributed_csr<T> make_grid_restriction(const grid_boxes& boxes,
                                                       const distributed_csr<T>& p);

/// Takes other values of P. Enqueued.
template <class T>
void refresh_grid_restriction(const grid_boxes& boxes, const distributed_csr<T>& p,
                              distributed_csr<T>& r);

} // namespace krylith::aggregation
