// Diagonal (Jacobi) preconditioning: M = diag(A).
#pragma once

#include <string>

#include <krylith/matrix/csr.hpp>
#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/vector/vector.hpp>

namespace krylith {

/// Keeps 1 / a_ii on the devices: 8 n bytes (fp64) a group, or a device where vectors are
/// replicated. As a pointwise preconditioner it is applied inside the solver's own updates. Where
/// all of 1 / a_ii are below 2^-130 or one is above 2^130 (float: 40), M is 2^k diag(A) instead:
/// the solvers go the same way, and their squares survive.
template <class T>
class jacobi {
public:
    /// Throws input_error naming the first row whose diagonal entry is zero or not finite.
    jacobi(const matrix_operator<T>& a, const csr_matrix<T>& matrix);

    /// New values of the same matrix.
    void update(const csr_matrix<T>& matrix);

    /// M^-1 r, entry by entry.
    [[nodiscard]] term<T> operator()(const vector<T>& r) const { return pointwise(inverse_, r); }
    /// The square root of M, for split preconditioning: M^-1/2 A M^-1/2. Throws input_error naming
    /// the first row with a negative diagonal entry.
    [[nodiscard]] jacobi square_root() const;

    [[nodiscard]] static constexpr const char* name() { return "jacobi"; }

private:
    jacobi(layout_handle where, std::vector<T> inverse);
    vector<T> inverse_;
    std::vector<T> values_;
};

extern template class jacobi<double>;
extern template class jacobi<float>;

} // namespace krylith
