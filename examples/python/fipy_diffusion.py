"""Heat in a plate whose conductivity depends on the temperature: FiPy, with krylith as its solver.

    pip install fipy
    python fipy_diffusion.py [cells along a side]

The operator and its multigrid hierarchy are kept from step to step, and take new values.
"""

import os
import sys

os.environ.setdefault("FIPY_SOLVERS", "scipy")  # FiPy's matrices are then SciPy's

import fipy
import numpy as np
from fipy.solvers.scipy.scipyKrylovSolver import ScipyKrylovSolver

import krylith


class KrylithSolver(ScipyKrylovSolver):
    """FiPy's solver by krylith: `method` and M are those of krylith.Operator.solve."""

    def __init__(self, method="auto", M="auto", devices=None, **options):
        super().__init__(precon=None, **options)
        self.method, self.M, self.devices, self.op = method, M, devices, None

    def _doSolve(self, A, b, x0, *, M, callback, **options):
        if self.op is None:
            self.op = krylith.Operator(A, devices=self.devices)
        else:
            self.op.update(A.data)
        x, self.info = self.op.solve(b, x0, method=self.method, M=self.M, **options)
        self.actualIterations = self.info.iterations
        return x, self.info


def temperatures(solver, n, steps=5):
    """The temperature of each cell after some steps from a hot spot, and the means before and after."""
    mesh = fipy.Grid2D(nx=n, ny=n, dx=1 / n, dy=1 / n)
    x, y = mesh.cellCenters.value
    phi = fipy.CellVariable(mesh=mesh, hasOld=True, value=np.exp(-20 * ((x - 0.4) ** 2 + (y - 0.6) ** 2)))
    equation = fipy.TransientTerm() == fipy.DiffusionTerm(coeff=1 + phi)
    before = phi.cellVolumeAverage.value.copy()
    for _ in range(steps):
        phi.updateOld()
        for _ in range(5):
            equation.sweep(phi, dt=2e-3, solver=solver)
    return phi.value, before, phi.cellVolumeAverage.value


n = int(sys.argv[1]) if len(sys.argv) > 1 else 40
solver = KrylithSolver(method="cg", M="amg", tolerance=1e-10, criterion="RHS")
values, before, after = temperatures(solver, n)
direct = temperatures(fipy.LinearLUSolver(tolerance=1e-12), n)[0]
difference = abs(values - direct).max()
print(f"{solver.op!r}\n{solver.info}")
print(f"mean {before:.10f} before, {after:.10f} after; {difference:.1e} off FiPy's direct solver at most")
assert solver.info.converged and difference <= 1e-7
assert abs(after - before) <= 1e-8 * before  # no heat leaves through the sides
