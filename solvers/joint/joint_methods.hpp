// The solvers that have a loop for several right-hand sides (solvers/table/joint_solver.hpp), each
// beside its passes.
#pragma once

#include <memory>

#include <krylith/solvers/table/joint_solver.hpp>

namespace krylith {

/// Make the joint solver for a square matrix and at most so many columns at once, 16 of them at
/// most. Keeps the matrix in CSR on the devices, and vectors and recording for the next solve.
/// Devices exchange ghosts as operator halo does, in one put for all columns. Each column has its
/// own stop test; one that has stopped is left as it is while the others go on, and still costs its
/// share of an iteration. A column is scaled by powers of two of its own where squares of b or A b
/// leave the range of double, as a single solve is, and b = 0 gives x = 0. Where rounding hides the
/// residual, one in doubled precision decides, and the column ends by it, with attainable_accuracy
/// where it is too large. stagnation_window has no effect. An M that is a step of its own gets
/// columns of norm 1. Throw input_error for an invalid matrix and for a diagonal that M can't take,
/// usage_error for one that is not square, for options that are not allowed, for history and
/// callback, and for columns < 1.
///
/// CG: the iterates of cg() in every column; three reductions an iteration for all of them. Bytes
/// on a device with m rows: 12 nnz + 4 m, and 40 k m for k columns (fp64), where k is rounded up to
/// 2, 4, 8 or 16. Bytes an iteration: 12 nnz + (4 + 88 k) m, with jacobi 16 m more. With an M that
/// is a step of its own 48 k m, and (4 + 120 k) m an iteration; M's own come to both, here and
/// below.
template <class T>
[[nodiscard]] std::unique_ptr<joint_solver<T>>
joint_cg(const communicator& comm, const csr_view<T>& a, int columns,
         const column_preconditioner<T>& m, const solver_options& options);

/// MINRES: the iterates of minres() in every column. Bytes: 12 nnz + 4 m, and 72 k m. Bytes an
/// iteration: 12 nnz + (4 + 160 k) m, with jacobi 16 m more. With an M that is a step of its own
/// 88 k m, and (4 + 192 k) m an iteration.
template <class T>
[[nodiscard]] std::unique_ptr<joint_solver<T>>
joint_minres(const communicator& comm, const csr_view<T>& a, int columns,
             const column_preconditioner<T>& m, const solver_options& options);

/// BiCGStab with M on the right, whatever options.preconditioning says. Bytes: 12 nnz + 4 m, and 72
/// k m. Bytes an iteration: 24 nnz + (8 + 184 k) m, with jacobi 16 m more. With an M that is a step
/// of its own (8 + 200 k) m.
template <class T>
[[nodiscard]] std::unique_ptr<joint_solver<T>>
joint_bicgstab(const communicator& comm, const csr_view<T>& a, int columns,
               const column_preconditioner<T>& m, const solver_options& options);

/// GMRES(m), m = min(options.restart, n, 1000) of the first solve, with M on the right, whatever
/// options.preconditioning says: the iterates of gmres() in every column, and its reason
/// happy_breakdown. A column that has ended its cycle waits for the others, and the host looks at
/// all of them before the next cycle: max_seconds and stop have effect there. One reduction an
/// iteration, of (2 j + 3) k values in iteration j of a cycle. Bytes on a device with n rows: 12
/// nnz + 4 n, 8 (m + 5) k n, 16 m^2 k for Hessenberg matrices, and 33,000 m k for sums of blocks
/// (host devices and H200). Bytes of iteration j: 12 nnz + (4 + (16 j + 72) k) n, with M 8 n more.
template <class T>
[[nodiscard]] std::unique_ptr<joint_solver<T>>
joint_gmres(const communicator& comm, const csr_view<T>& a, int columns,
            const column_preconditioner<T>& m, const solver_options& options);

} // namespace krylith
