// Classical coarsening (Ruge, Stueben, Algebraic multigrid, 1987): the coarse unknowns of a matrix
// are some of its rows, and the others are interpolated from those that influence them.
//
// The coarse rows are a parallel modified independent set, and interpolation is extended+i, which
// reaches coarse rows two entries away (De Sterck, Yang, Heys, Reducing complexity in parallel
// algebraic multigrid preconditioners, SIMAX 27, 2006; De Sterck, Falgout, Nolting, Yang,
// Distance-two interpolation for parallel algebraic multigrid, NLAA 15, 2008). Written as a product
// of two matrices, as Li, Sjogreen, Yang (A new class of AMG interpolation methods based on
// matrix-matrix multiplications, SISC 43, 2021) do, it needs no loops of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <krylith/precond/coarsening/coarsening.hpp>

namespace krylith {

struct classical_options {
    /// Row j influences row i where -a_ij v_j / v_i is at least this part of the largest in row i.
    /// Above 0, up to 1.
    double strong_threshold = 0.25;
};

/// Coarse rows and interpolation of a symmetric matrix A with a near-null vector v.
///
/// A row becomes a coarse one where it influences more rows than those around it that are
/// undecided; a hash of global rows decides between equals. A row that is influenced by a coarse
/// one is interpolated. With g_ij = a_ij v_j / v_i, C_i the coarse rows that influence i, F_i the
/// others that do, and beta_k the sum of g_kl over C_k,
///
///     p_ij = -(a_ij + sum over F_i of a_ik a_kj / (beta_k + g_ki)) / d_i
///     d_i  = a_ii + the sum of weak g_ij + the sum over F_i of a_ik^2 / (beta_k + g_ki),
///
/// d_i at least a_ii / 20. Rows k with more than 64 in C_k count as weak here. A row keeps its four
/// largest p_ij v_j, which get the sum of the others in proportion. Rows that nothing influences,
/// and that influence none, are empty. All is the same, bit for bit, on any number of devices of a
/// kind.
///
/// Cost: about 30 passes over the rows, most of them over few, and a product of two sparse
/// matrices. Keeps both of these, P before its small entries went, and 9 bytes a nonzero of A.
template <class T>
class classical_coarsening final : public coarsening<T> {
public:
    /// Finds the coarse rows. A has one partition of rows and columns, and its columns ascend
    /// strictly in a row. Throws usage_error where the partitions differ or an option is out of
    /// range, and device_error where memory is short.
    classical_coarsening(const distributed_csr<T>& a, const classical_options& options,
                         std::span<const T* const> near_null);
    classical_coarsening(classical_coarsening&&) noexcept;
    classical_coarsening& operator=(classical_coarsening&&) noexcept;
    ~classical_coarsening() override;

    [[nodiscard]] const row_partition& coarse() const noexcept override;
    [[nodiscard]] std::string in_words() const override { return "classical"; }
    [[nodiscard]] distributed_csr<T> prolongation(const distributed_csr<T>& a,
                                                  std::span<const T* const> near_null) override;
    void refresh(const distributed_csr<T>& a, std::span<const T* const> near_null,
                 distributed_csr<T>& p) override;
    [[nodiscard]] const T* coarse_near_null(int rank) const noexcept override;
    [[nodiscard]] std::int64_t bytes() const noexcept override;

private:
    struct state;
    std::unique_ptr<state> state_;
};

} // namespace krylith
