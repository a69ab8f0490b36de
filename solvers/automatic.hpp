// Solves A x = b by methods that are chosen by what A is.
//
//     const solve_result result = solve(*a, b, x);
//
// The facts of A (spmv/operator_facts.hpp) say which methods suit; where one fails, the next goes
// on. result.attempts names them, with the reasons. The rules are those of plan_methods()
// (solvers/automatic/method_plan.hpp): CG where nothing speaks against a symmetric positive
// definite matrix, preconditioned by algebraic multigrid where the system is large, or takes 1000
// iterations without, and its matrix is given too, else by Jacobi where the diagonal varies;
// otherwise BiCGStab, then GMRES with a basis as long as 128 MiB hold, with M on the side that
// scales rows where the diagonal spans more than a factor of 100, and at last LSQR, in case A is
// singular. With the matrix GMRES has incomplete factors, without fill and with it, and where it is
// in host memory, or on host devices, multigrid for convection with diffusion; systems of several
// unknowns a node, such as elasticity, have what is known of them (matrix_nodes in
// precond/any_preconditioner.hpp). A that is not square, or a damped x (solver_options::damping),
// is a problem of least squares, for lsqr().
#pragma once

#include <concepts>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>

#include <krylith/comm/communicator.hpp>
#include <krylith/matrix/coo.hpp>
#include <krylith/matrix/csr.hpp>
#include <krylith/precond/any_preconditioner.hpp>
#include <krylith/solvers/options.hpp>
#include <krylith/solvers/result.hpp>
#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/vector/vector.hpp>

namespace krylith {

/// Solves A x = b. Where A is not square, or options.damping is not 0, it is lsqr() without any
/// preconditioner that finds the x of least residual, as the one attempt of the result: x is of the
/// domain layout, and without operator_options::transposed_products there is a usage_error. What
/// follows is for square matrices. The result is that of the method that converged, or of the
/// attempt that came nearest, whose x is returned. Facts that the operator doesn't keep yet cost
/// two products and a read of the matrix. The operator also keeps what converged, with which the
/// next solve begins, and its preconditioner, which takes new values in place or, where solves come
/// to take more than 1.5 times the first one's iterations, is made anew; until
/// a.release_workspace(). Attempts after the first go on from the best x so far where that has a
/// tenth of the residual that the first began with; otherwise they begin from the initial guess, if
/// there is one and it is better than 0, or from 0.
///
/// Of the options, max_seconds and max_iterations limit all attempts together. When the time is
/// over no attempt begins and no preconditioner is made, and the last of result.attempts says so;
/// one that is being made ends there, where it can (amg, ilut), as it does where a
/// stop is requested. Without max_iterations CG may take min(50 n, 50000) iterations (1000 before
/// multigrid is tried, 250 for a hub, 500 with multigrid), BiCGStab and GMRES min(10 n, 10000)
/// each, at least 1000 (500 where multigrid is next, and with it). `restart` is the least length of
/// GMRES' basis, and an attempt that has another behind it gives up after min(2 n, 2000)
/// iterations, at least 500, without gain. A callback is told iterations of all attempts; result
/// and history count from the start of the one that gave x. Where the caller stops one, no other is
/// tried. Memory: that of the method, after a failure one or two vectors, and A and A' for LSQR,
/// which is the last, where the operator has no A' and the matrix is in host memory.
template <class T>
solve_result solve(const matrix_operator<T>& a, const vector<T>& b, vector<T>& x,
                   const solver_options& options = {});

/// The same with a preconditioner that is given, or with none (any_preconditioner<T>()), on the
/// side that the options say.
template <class T>
solve_result solve(const matrix_operator<T>& a, const vector<T>& b, vector<T>& x,
                   const solver_options& options,
                   const std::type_identity_t<any_preconditioner<T>>& m);

/// The same with the matrix that the operator was made of, in host memory or on the devices: with
/// preconditioners that need it, such as algebraic multigrid for large symmetric positive definite
/// systems. `nodes` says
/// what is known of several unknowns a node: of elasticity, above all, the rigid body modes,
/// without which multigrid is of little help there. A preconditioner that was made with other
/// nodes, or with near-null vectors that lie elsewhere, is made anew. Throws usage_error for a
/// matrix of another size than the operator's, and for nodes that don't suit it.
template <class T>
solve_result solve(const matrix_operator<T>& a, const std::type_identity_t<matrix_ref<T>>& matrix,
                   const vector<T>& b, vector<T>& x, const solver_options& options = {},
                   const matrix_nodes& nodes = {});

/// The same three for b and x in arrays of host memory, with a.rows() and a.columns() entries in
/// the caller's order: std::vector, std::span, as_span() of an Eigen vector. Each call moves them
/// to the devices and back, and makes two vectors there; x is written whatever the outcome is,
/// unless something is thrown, and read where options.initial_guess says so. Throws usage_error for
/// other lengths.
template <class T>
solve_result solve(const matrix_operator<T>& a, std::type_identity_t<std::span<const T>> b,
                   std::type_identity_t<std::span<T>> x, const solver_options& options = {});
template <class T>
solve_result solve(const matrix_operator<T>& a, std::type_identity_t<std::span<const T>> b,
                   std::type_identity_t<std::span<T>> x, const solver_options& options,
                   const std::type_identity_t<any_preconditioner<T>>& m);
template <class T>
solve_result solve(const matrix_operator<T>& a, const std::type_identity_t<matrix_ref<T>>& matrix,
                   std::type_identity_t<std::span<const T>> b, std::type_identity_t<std::span<T>> x,
                   const solver_options& options = {}, const matrix_nodes& nodes = {});

/// The same, of vectors or of arrays, with a preconditioner of any class, also one that can't be
/// moved: what make_preconditioner() makes of a function, say. It refers to m.
template <class T, class B, class X, class M>
requires(!std::same_as<M, any_preconditioner<T>> && applied_preconditioner<M, T>) solve_result
    solve(const matrix_operator<T>& a, const B& b, X&& x, const solver_options& options,
          const M& m) {
    return solve(a, b, std::forward<X>(x), options, any_preconditioner<T>(std::cref(m)));
}

/// Solves A x = b from arrays in host memory, with matrix.rows entries in b and matrix.columns in
/// x, and leaves nothing on the devices. The operator has products with A' where these are needed.
/// The matrix travels once: GPUs keep it beside the operator, which is halo, until the
/// preconditioner has been made of it; where their memory is too short for both it travels twice.
/// options.initial_guess starts from x. Whoever solves with one matrix twice makes an operator.
/// Throws usage_error for other sizes, and what make_operator() throws.
template <class T>
solve_result solve(const communicator& comm, const csr_view<T>& matrix,
                   std::type_identity_t<std::span<const T>> b, std::type_identity_t<std::span<T>> x,
                   const solver_options& options = {}, const matrix_nodes& nodes = {});

/// A matrix in host memory of double or float that is a csr_view, as csr_matrix, adapt_csr(...) and
/// adapt_eigen(...) are, or that to_csr() brings into that form, such as coo_matrix.
template <class Matrix>
concept host_matrix = is_value_type<typename Matrix::value_type> &&
    (std::convertible_to<const Matrix&, csr_view<typename Matrix::value_type>> ||
     requires(const Matrix& matrix) {
         { to_csr(matrix) } -> std::same_as<csr_matrix<typename Matrix::value_type>>;
     });

/// The same for all of these.
template <host_matrix Matrix>
requires(!std::same_as<Matrix, csr_view<typename Matrix::value_type>>) solve_result
    solve(const communicator& comm, const Matrix& matrix,
          std::span<const typename Matrix::value_type> b, std::span<typename Matrix::value_type> x,
          const solver_options& options = {}, const matrix_nodes& nodes = {}) {
    using view = csr_view<typename Matrix::value_type>;
    if constexpr (std::convertible_to<const Matrix&, view>)
        return solve(comm, view(matrix), b, x, options, nodes);
    else
        return solve(comm, view(to_csr(matrix)), b, x, options, nodes);
}

} // namespace krylith
