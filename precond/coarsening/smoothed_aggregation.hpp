// Smoothed aggregation (Vanek, Mandel, Brezina, Algebraic multigrid by smoothed aggregation,
// Computing 56, 1996): the coarse space of a matrix and its prolongation.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <krylith/distributed/distributed_csr.hpp>
#include <krylith/precond/coarsening/coarsening.hpp>

namespace krylith {

struct aggregation_options {
    /// Entries with |a_ij| < theta sqrt(|a_ii a_jj|) are weak: aggregates don't grow across them,
    /// and the prolongation is smoothed with A_F, which is A without those that are small in their
    /// row, too. Its diagonal takes them up, but keeps 5% of that of A. In [0, 1).
    double theta = 0.02;
    /// Whether aggregates are joined in pairs, for few rows on the next level: grids of 7 points
    /// become 12 times coarser instead of 6 times. Not where nearly all rows have a direction.
    bool aggressive = false;
    /// Whether aggregates are boxes of points where the rows are the points of a grid in two or
    /// three dimensions that are coupled with those next to them along the same two or three axes:
    /// then `aggressive` counts for nothing. Counts for rows and one vector.
    bool boxes = false;
    /// Whether rows are asked for a direction: one has it where a positive entry is above 1/8 of
    /// the largest negative one, as with finite elements that are stretched, or whose coefficient
    /// is. Strong are then the negative entries of at least half of the largest of one of its rows;
    /// positive ones go to the diagonal of A_F. Counts for rows and one vector.
    bool directions = false;
    /// Whether P = (I - 4 / (3 lambda) D_F^-1 A_F) T, lambda the largest Gershgorin bound of
    /// D_F^-1 A_F; else P = T.
    bool smooth = true;
    /// An upper bound of the eigenvalues of D^-1 A that is known to be sharper than Gershgorin's
    /// of D_F^-1 A_F; lambda is the smaller one. 0: none is known.
    double known_bound = 0;
    /// Rows of a node, consecutive ones: aggregates are made of nodes, and blocks of entries are
    /// strong by their Frobenius norms. 1 to 12.
    int block_size = 1;
    /// Near-null vectors: so many unknowns has a node of the coarse level. 1 to 12.
    int vectors = 1;
};

/// The aggregates of a matrix, and prolongations made of them.
///
/// Aggregates grow from the rows of a maximal independent set of distance 2 (Bell, Dalton, Olson,
/// SISC 34, 2012; Kelley, Rajamanickam, 2204.02934) by hashes of global rows: a root with its
/// strong neighbours. Rows that have two neighbours left become roots of a second set, and the rest
/// joins the aggregate with which it is coupled most. The coupling of two rows is
/// |a_ij| / sqrt(a_ii a_jj) in units of 1/256, that of sets of rows the sum of theirs. Pairs of
/// aggregates are those that prefer each other, in rounds until there are no more; of equal
/// couplings a hash of the pair decides, and one that is coupled with more than 32 others stays
/// alone. All of this is arithmetic of integers: the same aggregates, and the same bits of P, on
/// hosts and GPUs and on any number of devices. Move-only.
///
/// With nodes of several rows or several vectors, these are the aggregates of the matrix of the
/// blocks' Frobenius norms, P is smoothed with A itself, and the columns of T are an orthonormal
/// basis of the vectors on each aggregate. A vector that depends there on those before it, to 1e-9
/// of its square, has an empty column of T instead: the next level still has `vectors` rows a node,
/// and fill_dropped() makes those rows harmless.
///
/// Cost: about 40 passes over the rows, most of them over few; the host waits 6 to 10 times. While
/// aggregates are found, 30 bytes a row, with directions a T more, and 260 bytes an aggregate if
/// they are joined in pairs.
template <class T>
class smoothed_aggregation final : public coarsening<T> {
public:
    /// Finds aggregates. A is square with one partition of rows and columns that cuts no node,
    /// columns of a row ascend strictly, and its diagonal is positive. Throws usage_error where the
    /// partitions differ or cut a node, or an option is out of range, and device_error where memory
    /// is short.
    /// near_null[rank] are the entries of a vector v, not 0, on the rows that the rank owns, or
    /// there is none: with v, which counts for rows and one vector, P is smoothed with entries that
    /// are large in their row too, |a_ij v_j| >= 0.02 |a_ii v_i|, and what A_F lacks goes to the
    /// diagonal times v_j / v_i, so that A_F v = A v.
    smoothed_aggregation(const distributed_csr<T>& a, const aggregation_options& options,
                         std::span<const T* const> near_null = {});
    smoothed_aggregation(smoothed_aggregation&&) noexcept;
    smoothed_aggregation& operator=(smoothed_aggregation&&) noexcept;
    ~smoothed_aggregation() override;

    /// The owners of aggregates, those of their roots. Aggregates are the rows of the coarse level,
    /// in the order of their lowest roots.
    [[nodiscard]] const row_partition& coarse() const noexcept override;

    /// Whether nearly all rows have a direction, of aggregation_options::directions.
    [[nodiscard]] bool directed() const noexcept;

    /// "aggregates", "aggregates in pairs", "aggregates of nodes", or "boxes of 2 x 2 x 2".
    [[nodiscard]] std::string in_words() const override;

    /// P of A, whose columns have norm 1 where it is not smoothed: near_null[rank] are the entries
    /// of a vector v, not 0, on the rows that the rank owns, or of several, [rows][vectors]; where
    /// P is smoothed it is (I - 4 / (3 lambda) D_F^-1 A_F) T, and T coarse_near_null() = v. Rows
    /// without an aggregate (those with no strong entry besides the diagonal) are empty. A is that
    /// of the constructor, with its values. Throws usage_error for another number of arrays than
    /// ranks, and for a matrix with other owners or numbers of nonzeros.
    [[nodiscard]] distributed_csr<T> prolongation(const distributed_csr<T>& a,
                                                  std::span<const T* const> near_null) override;
    /// T, as prolongation() gives it where P is not smoothed. Throws as it does.
    [[nodiscard]] distributed_csr<T> tentative(const distributed_csr<T>& a,
                                               std::span<const T* const> near_null);
    /// Finds A_F and lambda of a matrix with other values, for the next prolongation(). What is
    /// strong stays as it was.
    void filter(const distributed_csr<T>& a, std::span<const T* const> near_null = {});
    /// Computes the values of P anew, of other values of A and v. What is strong stays as it was,
    /// and A_F v = A v where the constructor was given a vector. Throws as prolongation() does.
    void refresh(const distributed_csr<T>& a, std::span<const T* const> near_null,
                 distributed_csr<T>& p) override;
    /// The same for T.
    void refresh_tentative(const distributed_csr<T>& a, std::span<const T* const> near_null,
                           distributed_csr<T>& t);
    /// Gives aggregation_options::known_bound anew, for later values.
    void know_bound(double bound) override;
    /// Null unless aggregates are such boxes and P is smoothed.
    [[nodiscard]] const aggregation::grid_boxes* boxes() const noexcept override;
    /// The near-null vectors on the coarse rows that a rank owns, [rows][vectors], of the latest P.
    [[nodiscard]] const T* coarse_near_null(int rank) const noexcept override;
    /// Enqueues 1 for the diagonal entries of the rows of P' A P whose column of P is empty,
    /// because a vector was dependent: they would be 0.
    void fill_dropped(distributed_csr<T>& coarse) const override;

    /// The most bytes that it keeps on a device.
    [[nodiscard]] std::int64_t bytes() const noexcept override;

private:
    struct state;
    std::unique_ptr<state> state_;
};

} // namespace krylith
