// Diagonal (Jacobi) preconditioning: M = diag(A).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include <krylith/matrix/csr.hpp>
#include <krylith/precond/diagonal_positions.hpp>
#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/vector/vector.hpp>

namespace krylith {

/// Keeps 1 / a_ii on the devices: 8 n bytes (fp64) a group, or a device where vectors are
/// replicated; on the host the same and where the a_ii are, 16 n. As a pointwise preconditioner it
/// is applied inside the solver's own updates.
template <class T>
class jacobi {
public:
    /// Throws input_error naming the first row whose diagonal entry is zero or not finite.
    jacobi(const matrix_operator<T>& a, const csr_view<T>& matrix);

    /// Another matrix of the same size: the diagonal is looked for anew, O(nnz). Throws as the
    /// constructor, and then keeps what it was.
    void update(const csr_view<T>& matrix);
    /// New values on the same pattern, in the order of the matrix that this was built from (as
    /// matrix_operator::update). O(n). Throws as the constructor, and usage_error for another
    /// number of values; then it keeps what it was.
    void update(std::span<const T> values);

    /// M^-1 r, entry by entry.
    [[nodiscard]] term<T> operator()(const vector<T>& r) const { return pointwise(inverse_, r); }
    /// The square root of M, for split preconditioning: M^-1/2 A M^-1/2. Throws input_error naming
    /// the first row with a negative diagonal entry.
    [[nodiscard]] jacobi square_root() const;

    [[nodiscard]] static constexpr const char* name() { return "jacobi"; }

private:
    jacobi(layout_handle where, const csr_view<T>& matrix,
           std::shared_ptr<const diagonal_positions> positions);
    jacobi(layout_handle where, std::shared_ptr<const diagonal_positions> positions,
           std::vector<T> inverse);
    vector<T> inverse_;
    std::vector<T> values_;
    std::shared_ptr<const diagonal_positions> positions_;
};

extern template class jacobi<double>;
extern template class jacobi<float>;

} // namespace krylith
