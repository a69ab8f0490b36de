// The product R (B P) where rows are the points of a grid and P is the smoothed prolongation of
// boxes.
#pragma once

#include <krylith/distributed/distributed_csr.hpp>
#include <krylith/precond/coarsening/grid_boxes.hpp>

namespace krylith::aggregation {

/// Computes R (B P), with the same pattern and bits as products of any matrices give, of boxes that
/// have_product(). P is smoothed with all of B, and R has the pattern of P'. Takes 14 numbers a
/// point meanwhile, with a full stencil 35. Waits for the devices.
template <class T>
[[nodiscard]] distributed_csr<T>
make_grid_product(const grid_boxes& boxes, const distributed_csr<T>& r, const distributed_csr<T>& b,
                  const distributed_csr<T>& p);

/// Computes its values anew, of others of the three. Enqueued.
template <class T>
void refresh_grid_product(const grid_boxes& boxes, const distributed_csr<T>& r,
                          const distributed_csr<T>& b, const distributed_csr<T>& p,
                          distributed_csr<T>& product);

} // namespace krylith::aggregation
