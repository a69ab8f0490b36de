// What the command adds where a solve failed or may mislead: what the library can't know, since its
// solvers never see the entries.
#pragma once

#include <string>

#include <krylith/matrix/csr.hpp>
#include <krylith/matrix/statistics.hpp>
#include <krylith/solvers/result.hpp>
#include <krylith/solvers/table/solver_method.hpp>
#include <krylith/tools/solve/solve_run.hpp>

namespace krylith::tool {

/// The diagnosis, with what the entries of the matrix, unless it is null, tell about the failure in
/// front. O(nnz log(row length)) where cg failed.
template <class T>
[[nodiscard]] std::string explained(const solve_request& request, const solve_result& result,
                                    const csr_matrix<T>* matrix);

/// Whether there is a command line to try next: nobody interrupted the solve, and it failed.
[[nodiscard]] bool asks_for_advice(const solve_result& result);

/// The command line to try next, on the same system.
[[nodiscard]] std::string next_command(const solve_request& request);

/// What is wrong with a solver that needs symmetry and converged although A has none, in words;
/// empty: nothing. It takes the facts of A, and where they say so, and the matrix isn't null, O(nnz
/// log(row length)).
template <class T>
[[nodiscard]] std::string asymmetry_warning(const solver_method& solver, const solve_result& result,
                                            const matrix_operator<T>& a,
                                            const csr_matrix<T>* matrix);

/// What is wrong with the rtol of a solve in T, in words; empty: nothing.
template <class T>
[[nodiscard]] std::string rtol_warning(const solve_result& result);

/// Whether A times ones is 0 up to rounding, measured against the largest row of A: then A is
/// singular, with constants in its null space. Where processes share the matrix, each gives its
/// rows, and the communicator. O(nnz).
template <class T>
[[nodiscard]] bool annihilates_constants(const csr_matrix<T>& matrix,
                                         const communicator* sharing = nullptr);

/// The first entry that differs from its mirror by more than half the digits, in words; empty if
/// the matrix is symmetric. Columns must ascend within rows. O(nnz log(row length)).
template <class T>
[[nodiscard]] std::string asymmetry(const csr_matrix<T>& matrix);

/// "entry (1, 2) is 3, its mirror 3.5 (counted from 1)".
[[nodiscard]] std::string in_words(const mirrored_entry& entry);

} // namespace krylith::tool
