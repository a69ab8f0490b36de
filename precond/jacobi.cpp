#include <krylith/precond/jacobi.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/device/number_text.hpp>

namespace krylith {

namespace {

/// Fewer rows than this take less time than waking a team of threads.
constexpr std::int64_t worth_a_team = 32768;

template <class T>
std::vector<T> inverse_diagonal(const diagonal_positions& where, std::span<const T> values) {
    std::vector<T> d = where.gather(values);
    const auto rows = static_cast<std::int64_t>(d.size());
    std::int64_t first_bad = rows;
#pragma omp parallel for schedule(static) reduction(min : first_bad) if (rows > worth_a_team)
    for (std::int64_t row = 0; row < rows; ++row) {
        T& entry = d[static_cast<std::size_t>(row)];
        const T inverse = T(1) / entry;
        if (std::isfinite(entry) && std::isfinite(inverse))
            entry = inverse;
        else
            first_bad = std::min(first_bad, row);
    }
    if (first_bad < rows)
        throw input_error("Jacobi preconditioner: the diagonal entry of row " +
                          std::to_string(first_bad) + " (counted from 0) is " +
                          number_text(static_cast<double>(d[static_cast<std::size_t>(first_bad)])) +
                          "; it and its inverse must be finite. Try --precond none");
    return d;
}

} // namespace

template <class T>
jacobi<T>::jacobi(layout_handle where, std::shared_ptr<const diagonal_positions> positions,
                  std::vector<T> inverse)
    : inverse_(std::move(where), "preconditioner"),
      values_(std::move(inverse)),
      positions_(std::move(positions)) {
    inverse_.upload(values_);
}

template <class T>
jacobi<T>::jacobi(layout_handle where, const csr_view<T>& matrix,
                  std::shared_ptr<const diagonal_positions> positions)
    : jacobi(std::move(where), positions, inverse_diagonal(*positions, matrix.values)) {}

template <class T>
jacobi<T>::jacobi(const matrix_operator<T>& a, const csr_view<T>& matrix)
    : jacobi(a.share_layout(), matrix,
             std::make_shared<diagonal_positions>(matrix.row_offsets, matrix.column_indices)) {}

template <class T>
void jacobi<T>::update(const csr_view<T>& matrix) {
    auto positions =
        std::make_shared<diagonal_positions>(matrix.row_offsets, matrix.column_indices);
    values_ = inverse_diagonal(*positions, matrix.values);
    positions_ = std::move(positions);
    inverse_.upload(values_);
}

template <class T>
void jacobi<T>::update(std::span<const T> values) {
    if (static_cast<std::int64_t>(values.size()) != positions_->entries())
        throw usage_error("jacobi::update: " + std::to_string(values.size()) +
                          " values for a pattern of " + std::to_string(positions_->entries()));
    values_ = inverse_diagonal(*positions_, values);
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
    return jacobi(inverse_.share_layout(), positions_, std::move(roots));
}

template class jacobi<double>;
template class jacobi<float>;

} // namespace krylith
