#include <krylith/precond/jacobi.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/device/number_text.hpp>

namespace krylith {

namespace {

/// Solvers square r'M^-1 r. Where its factors are extreme, a power of two, which no method minds,
/// brings the largest to about 1; an even one, for the root.
template <class T>
void moderate(std::vector<T>& inverse) {
    constexpr int usual = sizeof(T) == 8 ? 130 : 40;
    T largest = 0;
    for (const T v : inverse) largest = std::max(largest, std::fabs(v));
    const int exponent = largest > 0 ? std::ilogb(largest) : 0;
    if (std::abs(exponent) <= usual) return;
    for (T& v : inverse) v = std::ldexp(v, -exponent / 2 * 2);
}

template <class T>
std::vector<T> inverse_diagonal(const csr_matrix<T>& matrix) {
    std::vector<T> d = diagonal(matrix);
    for (std::size_t row = 0; row < d.size(); ++row) {
        if (!std::isfinite(d[row]) || !std::isfinite(T(1) / d[row]))
            throw input_error("Jacobi preconditioner: the diagonal entry of row " +
                              std::to_string(row) + " (counted from 0) is " +
                              number_text(static_cast<double>(d[row])) +
                              "; it and its inverse must be finite. Try --precond none");
        d[row] = T(1) / d[row];
    }
    moderate(d);
    return d;
}

} // namespace

template <class T>
jacobi<T>::jacobi(layout_handle where, std::vector<T> inverse)
    : inverse_(std::move(where), "preconditioner"), values_(std::move(inverse)) {
    inverse_.upload(values_);
}

template <class T>
jacobi<T>::jacobi(const matrix_operator<T>& a, const csr_matrix<T>& matrix)
    : jacobi(a.share_layout(), inverse_diagonal(matrix)) {}

template <class T>
void jacobi<T>::update(const csr_matrix<T>& matrix) {
    values_ = inverse_diagonal(matrix);
    inverse_.upload(values_);
}

template <class T>
jacobi<T> jacobi<T>::square_root() const {
    std::vector<T> roots = values_;
    for (std::size_t row = 0; row < roots.size(); ++row) {
        if (roots[row] < T(0))
            throw input_error("split Jacobi: the diagonal entry of row " + std::to_string(row) +
                              " (counted from 0) is negative, so M has no real square root; "
                              "use left or right preconditioning");
        roots[row] = std::sqrt(roots[row]);
    }
    return jacobi(inverse_.share_layout(), std::move(roots));
}

template class jacobi<double>;
template class jacobi<float>;

} // namespace krylith
