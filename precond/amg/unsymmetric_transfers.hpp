// Transfers of a matrix that is not symmetric: P = T, which is not smoothed, and R = S', where
// S = (I - omega D_F^-1 B_F') T (Sala, Tuminaro, A new Petrov-Galerkin smoothed aggregation
// preconditioner for nonsymmetric linear systems, SISC 31, 2008).
#pragma once

#include <cstdint>
#include <span>

#include <krylith/distributed/distributed_csr.hpp>
#include <krylith/precond/coarsening/mirrored_matrix.hpp>
#include <krylith/precond/coarsening/smoothed_aggregation.hpp>

namespace krylith::detail {

/// What a level keeps of them for update(), beside P and R.
template <class W>
struct unsymmetric_transfers {
    aggregation::mirrored_matrix<W> mirrored; ///< of B
    distributed_csr<W> smoothed;              ///< S

    /// Smooths S by the values of B, whose strong entries `of` knows.
    void refresh(smoothed_aggregation<W>& of, const distributed_csr<W>& b,
                 std::span<const W* const> near_null, distributed_csr<W>& p) {
        mirrored.take_transposed(b);
        of.refresh_tentative(mirrored.matrix(), near_null, p);
        of.refresh(mirrored.matrix(), near_null, smoothed);
    }
    [[nodiscard]] std::int64_t bytes() const { return mirrored.bytes() + smoothed.bytes(); }
};

} // namespace krylith::detail
