// The scaling of a level's matrix, over all devices of a group.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <krylith/distributed/distributed_csr.hpp>
#include <krylith/precond/scaling/diagonal_scaling.hpp>

namespace krylith::detail {

/// Scales the matrix of a coarse level in place, and returns how, with a sharp rho. Throws as
/// scaling_of() does. Waits for the devices.
template <class W>
[[nodiscard]] diagonal_scaling scale_coarse(distributed_csr<W>& a, std::size_t level,
                                            double least_bound = 0);

/// Whether rho of the first level is worth 12 products with it. Rows with no more off the diagonal
/// than on it, as of M-matrices, have a rho of 2, at most 1.5 times what a stencil of 27 points
/// needs: that costs an iteration, which takes less than the products.
[[nodiscard]] inline bool worth_sharpening(const diagonal_scaling& by) {
    return by.bound > near_bound;
}

/// Makes rho sharp, of the scaled matrix B, which gets it: Gershgorin's bound is far above the
/// largest eigenvalue where rows have many entries. rho becomes a power estimate with 10% to spare,
/// where that is less, but not below `least_bound`. Cost: 12 products; waits for the devices.
template <class W>
void sharpen(distributed_csr<W>& b, diagonal_scaling& by, double least_bound = 0);

/// Enqueues P S and S R / rho, where rho and S are of the coarse matrix, s[rank] on the rows of R
/// that the rank has.
template <class W>
void scale_transfers(double rho, std::span<const double* const> s, distributed_csr<W>& prolongation,
                     distributed_csr<W>& restriction);

} // namespace krylith::detail
