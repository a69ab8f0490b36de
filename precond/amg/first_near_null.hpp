// The near-null vector of the first level, where the user gives none.
#pragma once

#include <vector>

#include <krylith/device/memory/buffer.hpp>
#include <krylith/distributed/distributed_csr.hpp>
#include <krylith/precond/amg/scaled_level.hpp>

namespace krylith::detail {

/// A vector of the rows of each rank.
template <class W>
struct near_null_vector {
    std::vector<buffer<W>> entries;
    double largest_quotient; ///< bounds the quotients of its entries; infinity: nothing does
};

/// The near-null vector of A in the variables of B = S A S, its largest entry 1: S^-1 1, for A that
/// comes of differences of unknowns, or 1, where that fits better: A has then been scaled by its
/// user, as D A D is.
template <class W>
[[nodiscard]] near_null_vector<W> near_null_of(const distributed_csr<W>& b,
                                               const diagonal_scaling& by);

/// How little of a random vector relaxation must leave.
struct relaxation_limits {
    double mean;    ///< of the squared entries
    double largest; ///< magnitude of an entry: large where any few rows have a slow mode
};

/// Whether 12 steps x -= B x leave no more of x = +-1, random, B having its eigenvalues in [0, 1]:
/// what is left is the part of all modes that a smoother hardly changes. Networks in which all rows
/// are a few steps apart have next to none but the near-null vector, which CG takes out by itself.
/// Costs 12 products, and a download of x where its largest entry does not decide.
template <class W>
[[nodiscard]] bool relaxes_to(const distributed_csr<W>& b, const relaxation_limits& most);

} // namespace krylith::detail
