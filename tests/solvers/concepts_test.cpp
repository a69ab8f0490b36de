// The concepts of operators and preconditioners, and the types that fulfil them: checked by the
// compiler.
#include <memory>

#include <doctest/doctest.h>

#include <krylith/precond/identity.hpp>
#include <krylith/precond/jacobi.hpp>
#include <krylith/solvers/concepts.hpp>
#include <krylith/solvers/iteration/preconditioned_operator.hpp>
#include <krylith/spmv/matrix_operator.hpp>

namespace krylith {

namespace {

template <class T>
struct general {
    void apply(execution& run, const vector<T>& r, vector<T>& z) const;
};

template <class T>
struct no_domain_vector : matrix_operator<T> {
    void make_domain_vector() const;
};

struct returns_a_number {
    double operator()(const vector<double>& r) const;
};

} // namespace

static_assert(linear_operator<matrix_operator<double>>);
static_assert(linear_operator<matrix_operator<float>>);
static_assert(!linear_operator<int>);
static_assert(!linear_operator<vector<double>>);
static_assert(!linear_operator<std::unique_ptr<matrix_operator<double>>>);
static_assert(!linear_operator<no_domain_vector<double>>);

static_assert(preconditioner<identity, double> && preconditioner<identity, float>);
static_assert(pointwise_preconditioner<jacobi<double>, double>);
static_assert(pointwise_preconditioner<jacobi<float>, float>);
static_assert(!preconditioner<jacobi<double>, float>);
static_assert(!general_preconditioner<jacobi<double>, double>);
static_assert(general_preconditioner<general<double>, double>);
static_assert(preconditioner<general<float>, float>);
static_assert(!preconditioner<general<float>, double>);
static_assert(!pointwise_preconditioner<general<double>, double>);
static_assert(!preconditioner<int, double>);
static_assert(!preconditioner<returns_a_number, double>);

static_assert(splittable<jacobi<double>> && splittable<jacobi<float>>);
static_assert(!splittable<general<double>> && !splittable<identity>);

// Solves own device memory: they may be moved, never copied by accident.
static_assert(!std::is_copy_constructible_v<vector<double>>);
static_assert(std::is_nothrow_move_constructible_v<vector<double>>);
static_assert(!std::is_copy_constructible_v<execution>);

} // namespace krylith
