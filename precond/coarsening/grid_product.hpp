// The product R (B P) where rows are the points of a grid and P is the smoothed prolongation of
// boxes, on one device.
#pragma once

#include <memory>

#include <krylith/precond/coarsening/grid_boxes.hpp>
#include <krylith/sparse/device_csr.hpp>

namespace krylith::aggregation {

/// Computes R (B P) with the same pattern and bits as products of any matrices give. The rows of B
/// are those of the points next to each along three axes, the boxes have 2 x 2 x 2 points, P is
/// smoothed with all of B, and R has the pattern of P'. Takes 10 numbers a point meanwhile. Waits
/// for the device.
template <class T>
[[nodiscard]] device_csr<T> make_grid_product(const std::shared_ptr<device>& device,
                                              const grid_boxes& boxes, const device_csr<T>& r,
                                              const device_csr<T>& b, const device_csr<T>& p);

/// Computes its values anew, of others of the three. Enqueued.
template <class T>
void refresh_grid_product(const std::shared_ptr<device>& device, const grid_boxes& boxes,
                          const device_csr<T>& r, const device_csr<T>& b, const device_csr<T>& p,
                          device_csr<T>& product);

} // namespace krylith::aggregation
