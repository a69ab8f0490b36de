// What solvers require of operators; precond/preconditioner.hpp says it of preconditioners.
#pragma once

#include <concepts>
#include <initializer_list>
#include <span>

#include <krylith/precond/preconditioner.hpp>
#include <krylith/vector/fused.hpp>
#include <krylith/vector/vector.hpp>

namespace krylith {

/// An operator: y = alpha A x + beta y on distributed vectors, ordered by the stream, the same on
/// every call. `dots` are inner products that have y as a factor. matrix_operator is the model.
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
