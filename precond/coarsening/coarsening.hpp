// What every way of coarsening a matrix gives to a multigrid hierarchy.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <krylith/distributed/distributed_csr.hpp>
#include <krylith/partition/row_partition.hpp>

namespace krylith {

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
    /// Whether galerkin() gives R (A P).
    [[nodiscard]] virtual bool has_galerkin() const noexcept { return false; }
    /// R (A P) where its structure is known, so that it costs less than two products of any
    /// matrices, with the same pattern and bits. R has the pattern of P'.
    [[nodiscard]] virtual distributed_csr<T> galerkin(const distributed_csr<T>& /*r*/,
                                                      const distributed_csr<T>& /*a*/,
                                                      const distributed_csr<T>& /*p*/) const {
        return {};
    }
    /// Computes its values anew, of others of the three.
    virtual void refresh_galerkin(const distributed_csr<T>& /*r*/, const distributed_csr<T>& /*a*/,
                                  const distributed_csr<T>& /*p*/,
                                  distributed_csr<T>& /*coarse*/) const {}
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
