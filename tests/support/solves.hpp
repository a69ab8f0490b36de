// A system on a device group, and solvers by name.
#pragma once

#include <cmath>
#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/precond/any_preconditioner.hpp>
#include <krylith/precond/jacobi.hpp>
#include <krylith/solvers/bicgstab.hpp>
#include <krylith/solvers/bicgstab_l.hpp>
#include <krylith/solvers/cg.hpp>
#include <krylith/solvers/fcg.hpp>
#include <krylith/solvers/fgmres.hpp>
#include <krylith/solvers/gmres.hpp>
#include <krylith/solvers/gmres/gmres_cgs2.hpp>
#include <krylith/solvers/idr.hpp>
#include <krylith/solvers/minres.hpp>
#include <krylith/solvers/persistent_cg.hpp>
#include <krylith/solvers/solver_table.hpp>
#include <krylith/spmv/matrix_operator.hpp>

#include <krylith/tests/support/matrices.hpp>
#include <krylith/tests/support/oracle.hpp>
#include <krylith/tests/support/vectors.hpp>

namespace krylith::testing {

/// A row of the table of solvers.
struct method {
    const solver_method* row;

    // Those that tests know by name.
    static const method cg;
    static const method cg_launched;
    static const method bicgstab;
    static const method gmres;
    static const method gmres_cgs2;
    static const method fgmres;
    static const method fcg;
    static const method minres;
    static const method bicgstab_l;
    static const method idr;

    constexpr bool operator==(const method&) const = default;
};
inline constexpr method method::cg{&solver_rows::cg};
inline constexpr method method::cg_launched{&solver_rows::cg_launched};
inline constexpr method method::bicgstab{&solver_rows::bicgstab};
inline constexpr method method::gmres{&solver_rows::gmres};
inline constexpr method method::gmres_cgs2{&solver_rows::gmres_cgs2};
inline constexpr method method::fgmres{&solver_rows::fgmres};
inline constexpr method method::fcg{&solver_rows::fcg};
inline constexpr method method::minres{&solver_rows::minres};
inline constexpr method method::bicgstab_l{&solver_rows::bicgstab_l};
inline constexpr method method::idr{&solver_rows::idr};

[[nodiscard]] inline std::string to_string(method m) {
    return std::string(m.row->name);
}

/// Whether the method needs a symmetric positive definite matrix.
[[nodiscard]] inline bool needs_spd(method m) {
    return m.row->needs_spd;
}

/// Whether it needs a symmetric matrix at least.
[[nodiscard]] inline bool needs_symmetric(method m) {
    return m.row->needs_symmetric;
}

/// Returns the solvers for which wanted(row) is true, of those that run on all devices, multiply by
/// A alone and take preconditioners: tests/solvers/lsqr_test.cpp has the others.
template <class Wanted>
[[nodiscard]] std::vector<method> methods_where(Wanted wanted) {
    std::vector<method> methods;
    for (const solver_method* row : all_solvers)
        if (row->runs_everywhere && !row->least_squares && wanted(*row)) methods.push_back({row});
    return methods;
}

/// All that are there for use.
inline const std::vector<method> all_methods =
    methods_where([](const solver_method& row) { return !row.for_comparison; });
/// Those that take any square matrix.
inline const std::vector<method> general_methods = methods_where(
    [](const solver_method& row) { return !row.for_comparison && !row.needs_symmetric; });
/// These, and those that are there for comparison.
inline const std::vector<method> every_method =
    methods_where([](const solver_method&) { return true; });
/// Those that tests call with operators of their own, as templates.
inline constexpr method template_methods[] = {method::cg,         method::bicgstab, method::gmres,
                                              method::fgmres,     method::fcg,      method::minres,
                                              method::bicgstab_l, method::idr};

/// Whether tests of all pairs of a method and an operator run this one. A method doesn't know its
/// operator, so two methods suffice for the other operators.
[[nodiscard]] constexpr bool worth_running(method which, operator_kind kind) {
    return kind == operators::halo || which == method::cg || which == method::gmres;
}

/// Solves by the table, or by a template of template_methods where `a` is no matrix_operator.
template <class A, class T, class M = identity>
[[nodiscard]] solve_result solve(method which, const A& a, const vector<T>& b, vector<T>& x,
                                 const solver_options& options = {}, const M& m = {}) {
    if constexpr (std::derived_from<A, matrix_operator<T>>) {
        const matrix_operator<T>& base = a;
        if constexpr (std::same_as<M, identity>)
            return which.row->solve(base, b, x, options);
        else if constexpr (std::same_as<M, any_preconditioner<T>>)
            return which.row->solve(base, b, x, options, m);
        else
            return which.row->solve(base, b, x, options, any_preconditioner<T>(std::cref(m)));
    } else {
        if (which == method::cg) return cg(a, b, x, options, m);
        if (which == method::bicgstab) return bicgstab(a, b, x, options, m);
        if (which == method::fgmres) return fgmres(a, b, x, options, m);
        if (which == method::fcg) return fcg(a, b, x, options, m);
        if (which == method::minres) return minres(a, b, x, options, m);
        if (which == method::bicgstab_l) return bicgstab_l(a, b, x, options, m);
        if (which == method::idr) return idr(a, b, x, options, m);
        REQUIRE(which == method::gmres);
        return gmres(a, b, x, options, m);
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
