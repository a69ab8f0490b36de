// A matrix with its rows in an order that brings large entries to the diagonal, for matrices whose
// diagonal is weak or has zeros, such as those of circuits, chemistry and optimisation.
//
//     const matched_rows<double> matched(matrix);
//     const auto a = make_operator(group, matched.matrix());
//     auto b = a->make_range_vector();
//     auto x = a->make_range_vector();
//     b.upload(matched.right_hand_side(values));
//     const solve_result result = gmres(*a, b, x, {}, jacobi<double>(*a));
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <krylith/matrix/csr.hpp>

namespace krylith {

/// P A, where the permutation P makes the product of the magnitudes on the diagonal as large as it
/// can be: a maximum product matching, as MC64 finds it (Duff, Koster, SIMAX 22, 2001; match_rows()
/// in partition/ordering/row_matching.hpp). P A x = P b has the same x, and b - A x the same norm;
/// only b has to be brought into the order of rows. Preconditioners that are of the diagonal,
/// pointwise, by blocks, by sweeps or without fill, then have something to divide by. Scalings are
/// left to them: most are the same for scaled rows and columns.
///
/// A symmetric A doesn't stay symmetric, so P A is for gmres, bicgstab and others that need no
/// symmetry. ilut does the same inside of its blocks, by itself.
template <class T>
class matched_rows {
public:
    /// Keeps P A, 8 bytes a nonzero for new values, and 4 a row. Host memory; one thread, of
    /// O(nnz log n) where few paths are needed and O(n nnz log n) at worst. Throws usage_error for
    /// a matrix that is not square, and input_error as validate() does.
    explicit matched_rows(const csr_view<T>& a);
    explicit matched_rows(const csr_matrix<T>& a) : matched_rows(csr_view<T>(a)) {}

    /// P A, with ascending columns in each row.
    [[nodiscard]] const csr_matrix<T>& matrix() const { return matrix_; }
    /// P b. Throws usage_error for another number of entries than rows.
    [[nodiscard]] std::vector<T> right_hand_side(std::span<const T> b) const;

    /// Takes new values of A, in the order of the matrix that this was made of; P stays. Throws
    /// usage_error for another number of values.
    void update(std::span<const T> values);

    /// The row of A that is row i of P A.
    [[nodiscard]] std::span<const std::int32_t> row_at() const { return row_at_; }
    /// The rows that are not where they were.
    [[nodiscard]] std::int64_t moved() const;
    /// The rows that have no entry on the diagonal now: more than 0 where A is structurally
    /// singular.
    [[nodiscard]] std::int64_t unmatched() const { return unmatched_; }

private:
    csr_matrix<T> matrix_;
    std::vector<std::int64_t> entry_source_; ///< [nnz] the entry of A that entry k is
    std::vector<std::int32_t> row_at_;
    std::int64_t unmatched_ = 0;
};

} // namespace krylith
