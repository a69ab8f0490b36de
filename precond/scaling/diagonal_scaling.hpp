// A = D^1/2 (D^-1/2 A D^-1/2) D^1/2, where D = diag(A), of a matrix over all devices of a group.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <krylith/device/memory/buffer.hpp>
#include <krylith/distributed/distributed_csr.hpp>
#include <krylith/vector/vector.hpp>

namespace krylith::detail {

/// A bound up to which nothing sharper is looked for: rows of M-matrices have 2.
inline constexpr double near_bound = 2.1;

/// S = diag(A)^-1/2 and what bounds A, of a matrix over a group.
struct diagonal_scaling {
    std::vector<buffer<double>> s; ///< [rank], by local columns of the matrix
    double largest = 1;            ///< the largest entry of S
    double inverse = 1;            ///< the largest entry of S^-1
    double bound = 1;              ///< rho: a bound of the eigenvalues of D^-1 A
    bool sharp = false;            ///< rho is an estimate, else Gershgorin's bound of D^-1 A or
                                   ///< S A S, the smaller one
    bool any_positive = false;     ///< whether an entry off the diagonal is positive

    /// The entries of S on the rows of a rank.
    template <class T>
    [[nodiscard]] const double* owned(const distributed_csr<T>& a, int rank) const {
        return s[static_cast<std::size_t>(rank)].data() + a.columns_of(rank).first_owned();
    }
    /// The same of all ranks.
    template <class T>
    [[nodiscard]] std::vector<const double*> of_rows(const distributed_csr<T>& a) const {
        return by_rank(a.comm(), [&](int rank) { return owned(a, rank); });
    }
};

/// Whose matrix is scaled, for messages.
struct scaling_subject {
    std::string who;              ///< "amg"
    std::size_t level = 0;        ///< of a hierarchy
    const layout* rows = nullptr; ///< whose caller's numbers rows have; null: their own
};

/// Finds the scaling of a square matrix. Throws input_error naming the first row of the whole
/// matrix whose diagonal entry is not positive and finite, or whose entries are not finite. Waits
/// for the devices. Collective.
template <class T>
[[nodiscard]] diagonal_scaling scaling_of(const distributed_csr<T>& a, const scaling_subject& of);

/// What each rank adds up while B is made, to tell whether B is symmetric.
struct mirror_sums {
    /// Whether B, scaled to a diagonal of 1 / rho, differs from B' by more than rounding: by about
    /// 1e-5 in the entries of many rows, or more in a few. The answer is the same on any number of
    /// devices. Waits for the devices. Collective.
    [[nodiscard]] bool differ(std::int64_t nonzeros) const;

    std::optional<communicator> comm;            ///< of the matrix; none: B has not been made
    std::vector<buffer<std::uint64_t>> of_ranks; ///< [rank], one number
};

/// Enqueues B = S A S / rho: values into those of `b`, which has the pattern of `a` and may be `a`.
/// Fills `mirrored` where it is not null.
template <class T, class W>
void scale(const distributed_csr<T>& a, const diagonal_scaling& by, distributed_csr<W>& b,
           mirror_sums* mirrored = nullptr);

/// Returns B likewise, of the same pattern.
template <class W, class T>
[[nodiscard]] distributed_csr<W> scaled(const distributed_csr<T>& a, const diagonal_scaling& by,
                                        mirror_sums* mirrored = nullptr);

/// Writes S 2^-k, where the largest entry of S is in [2^k, 2^(k + 1)), into a vector of the rows of
/// the matrix, which may have several columns; first_owned[rank] is the local column of the first
/// row of a rank. Returns k. Collective.
template <class W>
int take_moderate(const diagonal_scaling& by, std::span<const std::int64_t> first_owned,
                  int columns, vector<W>& to);

/// The factor that gives S B S the scale of A^-1 when S 2^-k stands for S: 2^2k, or 1 where squares
/// of it would leave the range of T. M is then a power of two of what it should be, which changes
/// no method's iterates.
template <class T>
[[nodiscard]] double moderate_factor(int k) {
    constexpr int usual = sizeof(T) == 8 ? 65 : 20;
    return std::abs(k) <= usual ? std::ldexp(1.0, 2 * k) : 1;
}

/// Enqueues what gives each rank all entries of a replicated vector, of which it has its own.
/// Collective.
template <class W>
void share_owned(vector<W>& v);

} // namespace krylith::detail
