// The scaling of a level's matrix, over all devices of a group.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <krylith/device/memory/buffer.hpp>
#include <krylith/distributed/distributed_csr.hpp>
#include <krylith/precond/amg/row_lengths.hpp>

namespace krylith::detail {

/// S = diag(A)^-1/2 and what bounds A, of a matrix over a group.
struct level_scaling {
    std::vector<buffer<double>> s; ///< [rank], by local columns of the matrix
    double largest = 1;            ///< the largest entry of S
    double inverse = 1;            ///< the largest entry of S^-1
    double bound = 1;              ///< rho: a bound of the eigenvalues of D^-1 A
    bool sharp = false;            ///< rho is an estimate, else Gershgorin's bound

    /// The entries of S on the rows of a rank.
    template <class T>
    [[nodiscard]] const double* owned(const distributed_csr<T>& a, int rank) const {
        return s[static_cast<std::size_t>(rank)].data() + a.columns_of(rank).first_owned();
    }
    /// The same of all ranks.
    template <class T>
    [[nodiscard]] std::vector<const double*> of_rows(const distributed_csr<T>& a) const {
        std::vector<const double*> result;
        for (int rank = 0; rank < a.group().size(); ++rank) result.push_back(owned(a, rank));
        return result;
    }
};

/// Finds the scaling of the matrix of a level; the first is 0. Throws input_error naming the first
/// row of the whole matrix whose diagonal entry is not positive and finite. Waits for the devices.
template <class T>
[[nodiscard]] level_scaling scaling_of(const distributed_csr<T>& a, std::size_t level);

/// Scales the matrix of a coarse level in place, and returns how, with a sharp rho. Throws as
/// scaling_of() does. Waits for the devices.
template <class W>
[[nodiscard]] level_scaling scale_coarse(distributed_csr<W>& a, std::size_t level,
                                         double least_bound = 0);

/// Whether rho of the first level is worth 12 products with it. Rows with no more off the diagonal
/// than on it, as of M-matrices, have a rho of 2, at most 1.5 times what a stencil of 27 points
/// needs: that costs an iteration, which takes less than the products.
template <class T>
[[nodiscard]] bool worth_sharpening(const distributed_csr<T>& a, const level_scaling& by) {
    constexpr double near = 2.1;
    return has_long_rows(a) && by.bound > near;
}

/// Makes rho sharp, of the scaled matrix B, which gets it: Gershgorin's bound is far above the
/// largest eigenvalue where rows have many entries. rho becomes a power estimate with 10% to spare,
/// where that is less, but not below `least_bound`. Cost: 12 products; waits for the devices.
template <class W>
void sharpen(distributed_csr<W>& b, level_scaling& by, double least_bound = 0);

/// What each rank adds up while B is made, to tell whether B is symmetric.
struct mirror_sums {
    /// Whether B, scaled to a diagonal of 1 / rho, differs from B' by more than rounding: by about
    /// 1e-5 in the entries of many rows, or more in a few. The answer is the same on any number of
    /// devices. Waits for the devices.
    [[nodiscard]] bool differ(std::int64_t nonzeros) const;

    std::vector<buffer<std::uint64_t>> of_ranks; ///< [rank], one number
};

/// Enqueues B = S A S / rho: values into those of `b`, which has the pattern of `a` and may be `a`.
/// Fills `mirrored` where it is not null.
template <class T, class W>
void scale(const distributed_csr<T>& a, const level_scaling& by, distributed_csr<W>& b,
           mirror_sums* mirrored = nullptr);

/// Returns B likewise; the values of A are freed.
template <class W, class T>
[[nodiscard]] distributed_csr<W> scaled(distributed_csr<T> a, const level_scaling& by,
                                        mirror_sums* mirrored = nullptr);

/// Rounds the values; those of A are freed.
template <class W, class T>
[[nodiscard]] distributed_csr<W> rounded(distributed_csr<T> a);

/// Enqueues P S and S R / rho, where rho and S are of the coarse matrix, s[rank] on the rows of R
/// that the rank has.
template <class W>
void scale_transfers(double rho, std::span<const double* const> s, distributed_csr<W>& prolongation,
                     distributed_csr<W>& restriction);

} // namespace krylith::detail
