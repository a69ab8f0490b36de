#include <krylith/sparse/triangular_solver.hpp>

#include <algorithm>
#include <cstdlib>
#include <string>

#include <krylith/config.hpp>
#include <krylith/device/error.hpp>
#include <krylith/sparse/sptrsv/triangle_solve.hpp>

namespace krylith {

const char* to_string(triangular_method method) noexcept {
    switch (method) {
    case triangular_method::rows: return "rows";
    case triangular_method::levels: return "levels";
    default: return "automatic";
    }
}

namespace {

constexpr int most_together = 4;

template <class T>
void check_triangle(const device_csr<T>& a, const triangular_options& options) {
    if (a.on() == nullptr) throw usage_error("triangular_solver: the matrix has no device");
    if (a.rows() != a.columns())
        throw input_error("triangular_solver: the matrix has " + std::to_string(a.rows()) +
                          " rows and " + std::to_string(a.columns()) +
                          " columns; a triangle is that of a square matrix");
    if (options.together < 1 || options.together > most_together)
        throw usage_error("triangular_options::together is " + std::to_string(options.together) +
                          "; it must be 1 to " + std::to_string(most_together));
    const auto& ranges = options.ranges;
    if (ranges.empty()) return;
    if (ranges.front() != 0 || ranges.back() != a.rows() || !std::ranges::is_sorted(ranges))
        throw usage_error("triangular_options::ranges begin at " + std::to_string(ranges.front()) +
                          " and end at " + std::to_string(ranges.back()) +
                          "; they must ascend from 0 to the " + std::to_string(a.rows()) + " rows");
}

template <class T>
std::unique_ptr<triangle_solve<T>> make(const device_csr<T>& a, const triangular_options& options) {
    check_triangle(a, options);
    if (a.on()->kind() == backend::host) return host::make_triangle_solve(a, options);
#if KRYLITH_HAVE_CUDA
    return cuda::make_triangle_solve(a, options);
#else
    throw device_error("krylith was built without CUDA");
#endif
}

} // namespace

template <class T>
triangular_solver<T>::triangular_solver(const device_csr<T>& a, const triangular_options& options)
    : solve_(make(a, options)) {
    update();
}

template <class T>
triangular_solver<T>::triangular_solver(triangular_solver&&) noexcept = default;
template <class T>
triangular_solver<T>& triangular_solver<T>::operator=(triangular_solver&&) noexcept = default;
template <class T>
triangular_solver<T>::~triangular_solver() = default;

template <class T>
void triangular_solver<T>::solve(const T* b, T* x) {
    if (rows() != 0) solve_->solve({b, x, 0, 0}, 1);
}

template <class T>
void triangular_solver<T>::solve(const T* b, std::int64_t b_stride, T* x, std::int64_t x_stride,
                                 std::int64_t count) {
    const bool apart = std::abs(b_stride) >= rows() && std::abs(x_stride) >= rows();
    if (count < 0 || (count > 1 && !apart))
        throw usage_error("triangular_solver::solve: count is " + std::to_string(count) +
                          ", b_stride " + std::to_string(b_stride) + " and x_stride " +
                          std::to_string(x_stride) + "; count is 0 or more, and strides are the " +
                          std::to_string(rows()) + " rows or more");
    if (rows() == 0) return;
    for (std::int64_t v = 0; v < count; v += solve_->together)
        solve_->solve({b + v * b_stride, x + v * x_stride, b_stride, x_stride},
                      static_cast<int>(std::min<std::int64_t>(solve_->together, count - v)));
}

template <class T>
void triangular_solver<T>::update() {
    const std::int64_t row = solve_->update();
    if (row >= 0)
        throw input_error("triangular_solver: the diagonal entry of row " + std::to_string(row) +
                          " is 0 or missing; a triangle with a stored diagonal has none such");
}

template <class T>
std::int64_t triangular_solver<T>::rows() const {
    return solve_->rows;
}
template <class T>
std::int64_t triangular_solver<T>::levels() const {
    return solve_->levels;
}
template <class T>
std::int64_t triangular_solver<T>::bytes() const {
    return solve_->bytes();
}
template <class T>
triangular_method triangular_solver<T>::method() const {
    return solve_->method;
}
template <class T>
const std::string& triangular_solver<T>::reason() const {
    return solve_->reason;
}

#define KRYLITH_INSTANTIATE(T) template class triangular_solver<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
