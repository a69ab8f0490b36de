// The concepts of operators and preconditioners, and the types that fulfil them: checked by the
// compiler.
#include <concepts>
#include <functional>
#include <memory>
#include <type_traits>

#include <doctest/doctest.h>

#include <krylith/precond/any_preconditioner.hpp>
#include <krylith/precond/jacobi.hpp>
#include <krylith/precond/preconditioner.hpp>
#include <krylith/solvers/concepts.hpp>
#include <krylith/solvers/iteration/preconditioned_operator.hpp>
#include <krylith/spmv/matrix_operator.hpp>

namespace krylith {

namespace {

template <class T>
struct general {
    void apply(execution& run, const vector<T>& r, vector<T>& z,
               std::span<const reduction_into<T>> dots) const;
    [[nodiscard]] bool recordable() const;
    [[nodiscard]] std::int64_t bytes() const;
    [[nodiscard]] std::string name() const;
};

/// It lacks a name.
template <class T>
struct nameless {
    void apply(execution& run, const vector<T>& r, vector<T>& z,
               std::span<const reduction_into<T>> dots) const;
    [[nodiscard]] bool recordable() const;
    [[nodiscard]] std::int64_t bytes() const;
};

/// It takes no inner products.
template <class T>
struct without_dots : nameless<T> {
    void apply(execution& run, const vector<T>& r, vector<T>& z) const;
    [[nodiscard]] std::string name() const;
};

struct split_general : general<double> {
    [[nodiscard]] split_general square_root() const;
};

template <class T>
struct no_domain_vector {
    using value_type = T;
    [[nodiscard]] layout_handle layout() const;
    [[nodiscard]] vector<T> make_range_vector() const;
    [[nodiscard]] bool recordable() const;
    void apply(execution& run, T alpha, const vector<T>& x, T beta, vector<T>& y,
               std::span<const reduction_into<T>> dots) const;
};

struct all_vectors : no_domain_vector<double> {
    [[nodiscard]] vector<double> make_domain_vector() const;
};

struct returns_a_number : general<double> {
    double pointwise(const vector<double>& r) const;
};

} // namespace

static_assert(linear_operator<matrix_operator<double>>);
static_assert(linear_operator<matrix_operator<float>>);
static_assert(!linear_operator<int>);
static_assert(!linear_operator<vector<double>>);
static_assert(!linear_operator<std::unique_ptr<matrix_operator<double>>>);
static_assert(linear_operator<all_vectors>);
static_assert(!linear_operator<no_domain_vector<double>>);

static_assert(preconditioner<identity, double> && preconditioner<identity, float>);
static_assert(pointwise_preconditioner<jacobi<double>, double>);
static_assert(pointwise_preconditioner<jacobi<float>, float>);
static_assert(!preconditioner<jacobi<double>, float>);
static_assert(preconditioner<general<double>, double> && preconditioner<general<float>, float>);
static_assert(!preconditioner<general<float>, double>);
static_assert(!pointwise_preconditioner<general<double>, double>);
static_assert(!preconditioner<int, double>);
static_assert(!preconditioner<nameless<double>, double>);
static_assert(!preconditioner<without_dots<double>, double>);
static_assert(!pointwise_preconditioner<returns_a_number, double>);
static_assert(pointwise_preconditioner<any_preconditioner<double>, double>);
static_assert(pointwise_preconditioner<any_preconditioner<float>, float>);

static_assert(splittable<jacobi<double>> && splittable<jacobi<float>>);
static_assert(splittable<any_preconditioner<double>> && splittable<split_general>);
static_assert(!splittable<general<double>> && !splittable<identity>);

// It takes what is a preconditioner of its type, by value or by reference, and no copy of another.
static_assert(std::constructible_from<any_preconditioner<double>, general<double>>);
static_assert(std::constructible_from<any_preconditioner<double>, jacobi<double>>);
static_assert(std::constructible_from<any_preconditioner<double>, identity>);
static_assert(std::constructible_from<any_preconditioner<double>,
                                      std::reference_wrapper<const jacobi<double>>>);
static_assert(!std::constructible_from<any_preconditioner<double>, const jacobi<double>&>);
static_assert(!std::constructible_from<any_preconditioner<double>, general<float>>);
static_assert(!std::constructible_from<any_preconditioner<double>, int>);
static_assert(!std::is_copy_constructible_v<any_preconditioner<double>>);
static_assert(std::is_nothrow_move_constructible_v<any_preconditioner<double>>);

// Solves own device memory: they may be moved, never copied by accident.
static_assert(!std::is_copy_constructible_v<vector<double>>);
static_assert(std::is_nothrow_move_constructible_v<vector<double>>);
static_assert(!std::is_copy_constructible_v<execution>);

} // namespace krylith
