// What every way of coarsening a matrix gives to a multigrid hierarchy.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <krylith/distributed/distributed_csr.hpp>
#include <krylith/partition/row_partition.hpp>

namespace krylith {

namespace aggregation {
struct grid_boxes;
} // namespace aggregation

/// The unknowns of the level below a matrix A, and the prolongation P from them. near_null[rank]
/// are the entries of a vector v, not 0, on the rows that the rank owns, or of several,
/// [rows][vectors]: P coarse_near_null() = v but in rows that P leaves empty or that A does not map
/// to nearly 0.
template <class T>
class coarsening {
public:
    coarsening() = default;
    coarsening(const coarsening&) = delete;
    coarsening& operator=(const coarsening&) = delete;
    virtual ~coarsening() = default;

    /// The owners of the coarse unknowns.
    [[nodiscard]] virtual const row_partition& coarse() const noexcept = 0;
    /// P of the matrix that the constructor was given, with its values.
    [[nodiscard]] virtual distributed_csr<T> prolongation(const distributed_csr<T>& a,
                                                          std::span<const T* const> near_null) = 0;
    /// Computes the values of P anew, of other values of A and v. What is strong stays as it was.
    virtual void refresh(const distributed_csr<T>& a, std::span<const T* const> near_null,
                         distributed_csr<T>& p) = 0;
    /// The boxes of a grid's points that coarse unknowns are, where R and R (A P) are those of
    /// grid_restriction.hpp and grid_product.hpp, which cost less than a transposition and two
    /// products of any matrices; null where they are not.
    [[nodiscard]] virtual const aggregation::grid_boxes* boxes() const noexcept { return nullptr; }
    /// The near-null vectors on the coarse unknowns that a rank owns, [unknowns][vectors], of the
    /// latest P.
    [[nodiscard]] virtual const T* coarse_near_null(int rank) const noexcept = 0;
    /// What the coarse unknowns are, for reports.
    [[nodiscard]] virtual std::string in_words() const = 0;
    /// Tells an upper bound of the eigenvalues of D^-1 A that is sharper than Gershgorin's, for the
    /// next P.
    virtual void know_bound(double) {}
    /// Enqueues 1 for diagonal entries of P' A P that are 0 because a column of P is empty.
    virtual void fill_dropped(distributed_csr<T>&) const {}
    /// The most bytes that it keeps on a device.
    [[nodiscard]] virtual std::int64_t bytes() const noexcept = 0;

protected:
    coarsening(coarsening&&) noexcept = default;
    coarsening& operator=(coarsening&&) noexcept = default;
};

} // namespace krylith
