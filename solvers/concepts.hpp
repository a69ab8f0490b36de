// What solvers require of operators; precond/preconditioner.hpp says it of preconditioners.
#pragma once

#include <concepts>
#include <initializer_list>
#include <span>
#include <string_view>
#include <type_traits>

#include <krylith/precond/preconditioner.hpp>
#include <krylith/vector/fused.hpp>
#include <krylith/vector/vector.hpp>

namespace krylith {

/// An operator of a square matrix: y = alpha A x + beta y on distributed vectors of one layout,
/// ordered by the stream, the same on every call. `dots` are inner products that have y as a
/// factor. matrix_operator is the model. One that has domain_layout() and range_layout() too may be
/// of a matrix that is not square: solvers refuse it where these differ (check_square), but for
/// those that minimise ||b - A x||.
template <class A>
concept linear_operator = requires(const A& a, execution& run,
                                   const vector<typename A::value_type>& x,
                                   vector<typename A::value_type>& y, typename A::value_type c,
                                   std::span<const reduction_into<typename A::value_type>> dots) {
    { a.layout() } -> std::convertible_to<layout_handle>;
    { a.make_range_vector() } -> std::same_as<vector<typename A::value_type>>;
    { a.make_domain_vector() } -> std::same_as<vector<typename A::value_type>>;
    { a.recordable() } -> std::convertible_to<bool>;
    a.apply(run, c, x, c, y, dots);
};

/// An operator of any m x n matrix with a layout of x and one of y = A x, and with a.transposed(),
/// the operator of A', whose layouts are these the other way round. Only what a solve multiplies by
/// A' calls transposed(), which may throw.
template <class A>
concept transposable_operator = linear_operator<A> && requires(const A& a) {
    { a.domain_layout() } -> std::convertible_to<layout_handle>;
    { a.range_layout() } -> std::convertible_to<layout_handle>;
    requires linear_operator<std::remove_cvref_t<decltype(a.transposed())>>;
};

/// Returns the layout of x in y = A x.
template <linear_operator A>
[[nodiscard]] layout_handle domain_layout_of(const A& a) {
    if constexpr (requires { operator_layouts{a.domain_layout(), a.range_layout()}; })
        return a.domain_layout();
    else
        return a.layout();
}

/// Returns the layout of y = A x.
template <linear_operator A>
[[nodiscard]] layout_handle range_layout_of(const A& a) {
    if constexpr (requires { operator_layouts{a.domain_layout(), a.range_layout()}; })
        return a.range_layout();
    else
        return a.layout();
}

/// Throws usage_error "SOLVER needs a square matrix; A is M x N" unless x and y = A x are of one
/// layout. It is the first line of every solver that needs that.
template <linear_operator A>
void check_square(const A& a, std::string_view solver) {
    if constexpr (requires { operator_layouts{a.domain_layout(), a.range_layout()}; })
        (void)square_layout({a.domain_layout(), a.range_layout()}, solver);
}

/// Enqueues y = A x with the dots in the same pass.
template <linear_operator A, class... Dots>
void multiply(execution& run, const A& a, const vector<typename A::value_type>& x,
              vector<typename A::value_type>& y, const Dots&... dots) {
    using T = typename A::value_type;
    const std::initializer_list<reduction_into<T>> list = {dots...};
    a.apply(run, T(1), x, T(0), y, std::span(list.begin(), list.size()));
}

/// Enqueues r = b - A x with the dots in the same pass as the product. x is a domain vector.
template <linear_operator A, class... Dots>
void residual(execution& run, const A& a, const vector<typename A::value_type>& b,
              const vector<typename A::value_type>& x, vector<typename A::value_type>& r,
              const Dots&... dots) {
    using T = typename A::value_type;
    fused(run, r = b);
    const std::initializer_list<reduction_into<T>> list = {dots...};
    a.apply(run, T(-1), x, T(1), r, std::span(list.begin(), list.size()));
}

} // namespace krylith
