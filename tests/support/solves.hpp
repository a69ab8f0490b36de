// A system on a device group, and solvers by name.
#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <krylith/precond/jacobi.hpp>
#include <krylith/solvers/bicgstab.hpp>
#include <krylith/solvers/cg.hpp>
#include <krylith/solvers/gmres.hpp>
#include <krylith/solvers/gmres_cgs2.hpp>
#include <krylith/solvers/persistent_cg.hpp>
#include <krylith/spmv/matrix_operator.hpp>

#include <krylith/tests/support/matrices.hpp>
#include <krylith/tests/support/oracle.hpp>
#include <krylith/tests/support/vectors.hpp>

namespace krylith::testing {

enum class method { cg, cg_auto, bicgstab, gmres, gmres_cgs2 };

[[nodiscard]] inline const char* to_string(method m) {
    constexpr const char* names[] = {"cg", "cg:auto", "bicgstab", "gmres", "gmres:cgs2"};
    return names[static_cast<int>(m)];
}

/// Whether the method needs a symmetric positive definite matrix.
[[nodiscard]] constexpr bool needs_spd(method m) {
    return m == method::cg || m == method::cg_auto;
}

inline constexpr method all_methods[] = {method::cg, method::cg_auto, method::bicgstab,
                                         method::gmres};
inline constexpr method general_methods[] = {method::bicgstab, method::gmres};
/// All methods and the form of GMRES that is there for comparison.
inline constexpr method every_method[] = {method::cg, method::cg_auto, method::bicgstab,
                                          method::gmres, method::gmres_cgs2};

/// Whether tests of all pairs of a method and an operator run this one. A method doesn't know its
/// operator, so two methods suffice for the other operators.
[[nodiscard]] constexpr bool worth_running(method which, operator_kind kind) {
    return kind == operators::halo || which == method::cg || which == method::gmres;
}

template <class A, class T, class M = identity>
[[nodiscard]] solve_result solve(method which, const A& a, const vector<T>& b, vector<T>& x,
                                 const solver_options& options = {}, const M& m = {}) {
    switch (which) {
    case method::cg_auto:
        if constexpr (std::derived_from<A, matrix_operator<T>> && !general_preconditioner<M, T>)
            return automatic_cg(static_cast<const matrix_operator<T>&>(a), b, x, options, m);
        [[fallthrough]];
    case method::cg: return cg(a, b, x, options, m);
    case method::bicgstab: return bicgstab(a, b, x, options, m);
    case method::gmres: return gmres(a, b, x, options, m);
    default: return gmres_cgs2(a, b, x, options, m);
    }
}

/// The system A x = b with x full of NaN: solvers start from 0 unless asked.
template <class T = double>
class problem {
public:
    problem(const device_group& group, const csr_matrix<T>& matrix, const std::vector<T>& rhs,
            const operator_options& options = {})
        : matrix_(matrix),
          rhs_(rhs),
          a(make_operator(group, matrix, options)),
          b(make_range_vector(a->layout(), rhs)),
          x(a->layout()) {
        fill(x, static_cast<T>(NAN));
    }

    [[nodiscard]] solve_result solve(method which, const solver_options& options = {}) {
        return testing::solve(which, *a, b, x, options);
    }
    [[nodiscard]] solve_result solve_jacobi(method which, const solver_options& options = {}) {
        return testing::solve(which, *a, b, x, options, jacobi<T>(*a, matrix_));
    }
    [[nodiscard]] solve_result solve_from(const std::vector<T>& x0, method which,
                                          solver_options options = {}) {
        x.upload(x0);
        options.initial_guess = true;
        return solve(which, options);
    }
    [[nodiscard]] std::vector<T> solution() const { return values_of(x); }

    /// Returns ||b - A x|| / ||b|| by the oracle.
    [[nodiscard]] double relative_residual() const {
        const double size = norm(rhs_);
        const double r = residual_norm(matrix_, rhs_, solution());
        return size > 0 ? r / size : r;
    }

private:
    csr_matrix<T> matrix_;
    std::vector<T> rhs_;

public:
    std::unique_ptr<matrix_operator<T>> a;
    vector<T> b;
    vector<T> x;
};

/// Returns "reason after k iterations: diagnosis" for messages.
[[nodiscard]] inline std::string describe(const solve_result& r) {
    return std::string(krylith::to_string(r.reason)) + " after " + std::to_string(r.iterations) +
           " iterations, residual " + std::to_string(r.relative_residual()) + ": " + r.diagnosis;
}

} // namespace krylith::testing
