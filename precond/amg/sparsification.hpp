// Coarse matrices without their small entries (Falgout, Schroder, Non-Galerkin coarse grids for
// algebraic multigrid, SISC 36, 2014; Bienz, Falgout, Gropp, Olson, Schroder, Reducing parallel
// communication in algebraic multigrid through sparsification, SISC 38, 2016).
#pragma once

#include <cstdint>
#include <vector>

#include <krylith/device/memory/buffer.hpp>
#include <krylith/distributed/distributed_csr.hpp>
#include <krylith/precond/coarsening/coarsening.hpp>

namespace krylith::detail {

/// What P smoothed couples beyond the neighbours of an aggregate: many entries of P' B P, of little
/// weight, along paths of larger ones. An entry goes where it is small in both of its rows,
/// |a_ij| v_j < drop v_i a_ii and |a_ij| v_i < drop v_j a_jj, v the near-null vector, and where
/// B has no such small entries near the aggregates of these rows: there they may be all that ties
/// rows together, as in a direction in which a grid is coupled weakly. Near a row of B that is
/// stiff beside a soft one, what is far smaller than `drop` stays, too: it may be all that ties a
/// stiff region to the next one. What goes is moved to the diagonal, so that A v stays; the
/// diagonal keeps a twentieth at least. Of a Laplacian, whose entries off the diagonal are
/// negative, what is left is one, too.
///
/// All of this is the same, bit for bit, on any number of devices. A pair (i, j) and (j, i) whose
/// entries differ by rounding may fall to both sides of `drop`, if that lies between them.
/// Move-only.
template <class W>
class sparsification {
public:
    /// Of the level of B, whose diagonal entries are `diagonal` and whose near-null vector is
    /// near_null[rank] on the rows of a rank, and its coarse matrix R (B P). `sparse` becomes the
    /// matrix without small entries, or stays empty where that has more than 90% of the entries.
    /// A pass over B, three over the coarse matrix; waits for the devices.
    sparsification(const distributed_csr<W>& b, double diagonal,
                   const std::vector<buffer<W>>& near_null, const distributed_csr<W>& r,
                   const coarsening<W>& to_next, const distributed_csr<W>& galerkin, double drop,
                   distributed_csr<W>& sparse);

    /// R (B P) without values.
    [[nodiscard]] const distributed_csr<W>& pattern() const noexcept { return pattern_; }
    /// Enqueues the values of the sparse matrix anew, for R (B P) of new values. What stays is as
    /// it was.
    void refresh(const coarsening<W>& to_next, const distributed_csr<W>& galerkin,
                 distributed_csr<W>& sparse) const;
    /// The most bytes that it keeps on a device.
    [[nodiscard]] std::int64_t bytes() const noexcept;

private:
    distributed_csr<W> pattern_;
    double drop_;
    std::vector<buffer<std::uint8_t>> kept_; ///< [rank][nonzeros]
};

} // namespace krylith::detail
