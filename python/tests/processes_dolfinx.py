"""What processes do with krylith.dolfinx on matrices of DOLFINx's own (test_processes.py)."""

from __future__ import annotations

import contextlib

with contextlib.suppress(ImportError):
    import dolfinx_solver  # noqa: F401 - the wheels on PyPI find MPI by it

import numpy as np
import ufl
from dolfinx import fem, la, mesh

import krylith.dolfinx

from processes import COMM, run

CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


def problem(size, factor=1.0, comm=COMM):
    """Returns V, A and b of (u, v) + factor (grad u, grad v) = (1, v), u with `size` components."""
    domain = mesh.create_unit_square(comm, 12, 12)
    V = fem.functionspace(domain, ("Lagrange", 2, (size,)) if size > 1 else ("Lagrange", 2))
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    one = ufl.as_vector([1.0] * size) if size > 1 else fem.Constant(domain, 1.0)
    x = ufl.SpatialCoordinate(domain)
    a = ufl.inner(u, v) * ufl.dx + factor * (1 + x[0]) * ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx
    A = fem.assemble_matrix(fem.form(a))
    A.scatter_reverse()
    b = fem.assemble_vector(fem.form((1 + x[1]) * ufl.inner(one, v) * ufl.dx))
    b.scatter_reverse(la.InsertMode.add)
    return V, A, b


def residual(A, x, b):
    """Returns ||b - A x|| / ||b|| as DOLFINx computes it."""
    own = b.index_map.size_local * b.block_size
    there, y = la.vector(A.index_map(1), b.block_size), la.vector(b.index_map, b.block_size)
    there.array[:own] = x.array[:own]  # A may need other ghosts than x has
    there.scatter_forward()
    A.mult(there, y)
    norms = [COMM.allreduce(np.sum(v[:own] ** 2)) for v in (b.array - y.array, b.array)]
    return np.sqrt(norms[0] / norms[1])


@check
def scalar_and_block_matrices():
    for size in (1, 2):
        V, A, b = problem(size)
        for M in ("amg", "jacobi"):
            x, info = krylith.dolfinx.solve(A, b, method="cg", M=M, rtol=1e-10)
            assert info.converged and residual(A, x, b) <= 1.1e-10, (size, M)
        u = fem.Function(V)
        x, info = krylith.dolfinx.solve(A, b, u.x)
        assert x is u.x and info.converged and residual(A, u.x, b) <= 1.1e-8


@check
def updates_and_starts():
    _, A, b = problem(1)
    _, B, _ = problem(1, factor=3.0)
    op = krylith.dolfinx.operator(A)
    x, _ = krylith.dolfinx.solve(op, b, M="amg")
    krylith.dolfinx.update(op, B)
    y, info = krylith.dolfinx.solve(op, b, M="amg")
    assert info.converged and residual(B, y, b) <= 1.1e-8
    y, info = krylith.dolfinx.solve(op, b, y, start=True)
    assert info.iterations == 0 and residual(B, y, b) <= 1.1e-8


if __name__ == "__main__":
    run(CHECKS)
