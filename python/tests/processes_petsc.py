"""What processes do with krylith.petsc.KSP on matrices that are spread over them (test_processes.py)."""

from __future__ import annotations

import contextlib

with contextlib.suppress(ImportError):
    import dolfinx_solver  # noqa: F401 - wheels that have PETSc find MPI by it

import numpy as np
from petsc4py import PETSc

import krylith.petsc

from conftest import laplacian, unsymmetric
from processes import COMM, RANK, cuts_of, own, raises, run, whole

CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


def mat(A, cuts):
    rows = own(A, cuts)
    csr = rows.indptr.astype(np.int32), rows.indices.astype(np.int32), rows.data
    size = rows.shape[0], A.shape[0]
    return PETSc.Mat().createAIJ((size, size), csr=csr, comm=COMM)


def solver(A, P=None, prefix="k_", **options):
    """Returns a KSP as command lines make it."""
    database = PETSc.Options()
    for name, value in {"ksp_type": "python", "ksp_python_type": "krylith.petsc.KSP", "ksp_rtol": "1e-9",
                        **options}.items():
        database[prefix + name] = value
    ksp = PETSc.KSP().create(COMM)
    ksp.setOptionsPrefix(prefix)
    ksp.setOperators(A, P)
    ksp.setFromOptions()
    for name in database.getAll():
        database.delValue(name)
    return ksp


def solve(ksp, b, cuts, x=None, transposed=False):
    right, left = ksp.getOperators()[0].createVecs()
    left.array = own(b, cuts)
    if x is not None:
        right.array = own(x, cuts)
    (ksp.solveTranspose if transposed else ksp.solve)(left, right)
    return whole(right.array)


def error(A, x, b):
    return np.linalg.norm(b - A @ x) / np.linalg.norm(b)


@check
def methods_and_preconditioners():
    for A in (laplacian(20), unsymmetric(20)):
        cuts, b = cuts_of(A.shape[0]), np.random.default_rng(1).standard_normal(A.shape[0])
        for options in ({}, {"krylith_method": "gmres", "krylith_M": "amg", "ksp_pc_side": "left"},
                        {"krylith_M": "ilu0", "krylith_method": "bicgstab"}, {"pc_type": "jacobi"},
                        {"pc_type": "bjacobi", "krylith_method": "gmres"}):
            ksp = solver(mat(A, cuts), **options)
            x = solve(ksp, b, cuts)
            assert ksp.reason == PETSc.KSP.ConvergedReason.CONVERGED_RTOL and error(A, x, b) <= 1.01e-9, options
            assert np.isclose(ksp.norm, np.linalg.norm(b - A @ x), rtol=0.1)


@check
def updates_transposes_and_starts():
    A = unsymmetric(15)
    cuts, b = cuts_of(A.shape[0]), np.ones(A.shape[0])
    M = mat(A, cuts)
    ksp = solver(M, krylith_method="gmres", krylith_M="ilu0")
    x = solve(ksp, b, cuts)
    operator = ksp.getPythonContext().operator
    assert error(A.T, solve(ksp, b, cuts, transposed=True), b) <= 1.01e-9
    M.scale(2)
    y = solve(ksp, b, cuts)
    assert error(2 * A, y, b) <= 1.01e-9 and ksp.getPythonContext().operator is operator
    assert error(2 * A.T, solve(ksp, b, cuts, transposed=True), b) <= 1.01e-9
    ksp.setInitialGuessNonzero(True)
    solve(ksp, b, cuts, x=y)
    assert ksp.its == 0
    assert np.allclose(2 * y, x, atol=1e-7 * abs(x).max())


@check
def monitors_and_history():
    A = laplacian(15)
    cuts, b, seen = cuts_of(A.shape[0]), np.ones(A.shape[0]), []
    ksp = solver(mat(A, cuts), krylith_method="cg")
    ksp.setMonitor(lambda ksp, its, norm: seen.append((its, COMM.allreduce(norm) / COMM.size)))
    ksp.setConvergenceHistory()
    solve(ksp, b, cuts)
    assert [its for its, _ in seen] == list(range(ksp.its + 1)) and ksp.its > 5
    assert np.isclose(seen[0][1], np.linalg.norm(b)) and seen[-1][1] <= 1.1e-9 * np.linalg.norm(b)
    assert np.allclose(ksp.getConvergenceHistory(), [norm for _, norm in seen])


@check
def second_matrices_and_near_null_vectors():
    A = laplacian(15)
    cuts, b = cuts_of(A.shape[0]), np.ones(A.shape[0])
    P = mat(2 * A, cuts)
    ksp = solver(mat(A, cuts), P, krylith_method="cg", krylith_M="amg")
    assert error(A, solve(ksp, b, cuts), b) <= 1.01e-9 and ksp.its < 20
    P.setNearNullSpace(PETSc.NullSpace().create(constant=True, comm=COMM))
    assert error(A, solve(ksp, b, cuts), b) <= 1.01e-9 and ksp.its < 20


@check
def what_is_refused():
    A = laplacian(9)
    cuts = cuts_of(A.shape[0])

    class Identity:
        def mult(self, mat, x, y):
            x.copy(y)

    shell = PETSc.Mat().createPython(mat(A, cuts).getSizes(), Identity(), comm=COMM)
    shell.setUp()
    ksp = solver(shell)

    def solves():
        try:
            solve(ksp, np.ones(A.shape[0]), cuts)
        except PETSc.Error as failed:
            raise failed.__cause__ or failed

    raises(ValueError, "has no entries, and can't span", solves)


if __name__ == "__main__":
    run(CHECKS)
