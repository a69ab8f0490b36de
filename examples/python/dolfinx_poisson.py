"""Poisson's equation by DOLFINx, solved by krylith twice: as the KSP of PETSc, and without PETSc.

    pip install dolfinx-solver-real     # or a FEniCSx that you have
    python dolfinx_poisson.py [elements along a side]
    mpirun -n 4 python dolfinx_poisson.py
"""

import contextlib
import sys

with contextlib.suppress(ImportError):
    import dolfinx_solver  # noqa: F401 - the wheels on PyPI find MPI by it

import numpy as np
import ufl
from dolfinx import fem, la, mesh
from dolfinx.fem.petsc import LinearProblem
from mpi4py import MPI

import krylith.dolfinx

n = int(sys.argv[1]) if len(sys.argv) > 1 else 24

# -div grad u = f with the solution sin(pi x) cos(pi y), which is also the value on the boundary.
domain = mesh.create_unit_square(MPI.COMM_WORLD, n, n)
V = fem.functionspace(domain, ("Lagrange", 2))
exact = fem.Function(V)
exact.interpolate(lambda x: np.sin(np.pi * x[0]) * np.cos(np.pi * x[1]))
x = ufl.SpatialCoordinate(domain)
f = 2 * np.pi**2 * ufl.sin(np.pi * x[0]) * ufl.cos(np.pi * x[1])
u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
a, L = ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx, ufl.inner(f, v) * ufl.dx
domain.topology.create_connectivity(1, 2)
facets = mesh.exterior_facet_indices(domain.topology)
bc = fem.dirichletbc(exact, fem.locate_dofs_topological(V, 1, facets))


def error(u):
    """The norm of u - exact in L2."""
    difference = u - ufl.sin(np.pi * x[0]) * ufl.cos(np.pi * x[1])
    return np.sqrt(domain.comm.allreduce(fem.assemble_scalar(fem.form(difference**2 * ufl.dx))))


def say(text):
    if domain.comm.rank == 0:
        print(text)


problem = LinearProblem(a, L, bcs=[bc], petsc_options_prefix="poisson_", petsc_options={
    "ksp_type": "python", "ksp_python_type": "krylith.petsc.KSP", "krylith_method": "cg", "krylith_M": "amg",
    "ksp_rtol": 1e-10, "ksp_error_if_not_converged": True,
})
by_petsc = problem.solve()
ksp, of_petsc = problem.solver, error(by_petsc)
say(f"KSP: {ksp.getIterationNumber()} iterations, residual {ksp.getResidualNorm():.1e}, error {of_petsc:.2e}")

# The same without PETSc, by matrices and vectors of DOLFINx's own.
form = fem.form(a)
A = fem.assemble_matrix(form, bcs=[bc])
A.scatter_reverse()
b = fem.assemble_vector(fem.form(L))
fem.apply_lifting(b.array, [form], [[bc]])
b.scatter_reverse(la.InsertMode.add)
bc.set(b.array)
alone = fem.Function(V)
_, info = krylith.dolfinx.solve(A, b, alone.x, method="cg", M="amg", rtol=1e-10)
say(f"krylith.dolfinx: {info.iterations} iterations, ||b - A x|| / ||b|| = {info.relative_residual:.1e}")

assert info.converged and np.allclose(alone.x.array, by_petsc.x.array, atol=1e-8)
assert of_petsc < 0.4 / n**3  # elements of degree 2: of third order
