"""A clamped beam under its weight: linear elasticity by scikit-fem, and multigrid that knows the rigid body modes.

    pip install scikit-fem
    python scikit_fem_elasticity.py [elements across the beam]
"""

import sys

import numpy as np
import skfem
from skfem.helpers import ddot, sym_grad, trace
from skfem.models.elasticity import lame_parameters, linear_elasticity

import krylith

across = int(sys.argv[1]) if len(sys.argv) > 1 else 5

mesh = skfem.MeshHex.init_tensor(*(np.linspace(0, length, length * across + 1) for length in (4, 1, 1)))
basis = skfem.Basis(mesh, skfem.ElementVector(skfem.ElementHex1()))
lam, mu = lame_parameters(200.0, 0.3)
stiffness = linear_elasticity(lam, mu).assemble(basis)
weight = skfem.LinearForm(lambda v, w: -1e-3 * v[2]).assemble(basis)
clamped = basis.get_dofs(lambda x: x[0] == 0)

# Moving and turning the whole beam costs no energy: three translations and three rotations.
rows = basis.nodal_dofs  # of the displacements along x, y and z
points = basis.doflocs[:, rows[0]]
modes = np.zeros((weight.size, 6))
for i in range(3):
    modes[rows[i], i] = 1
for mode, (i, j) in enumerate([(0, 1), (1, 2), (2, 0)], start=3):
    modes[rows[i], mode], modes[rows[j], mode] = -points[j], points[i]

A, b, u, free = skfem.condense(stiffness, weight, D=clamped)
op = krylith.Operator(A, block_size=3)
for name, B in (("without modes", None), ("with modes", modes[free])):
    M = krylith.amg(op, B=B, block_size=3)
    u[free], info = op.cg(b, M=M, rtol=1e-8)
    print(f"{name}: {info.iterations} iterations, {len(M.levels)} levels, {info.seconds:.2f} s")
    assert info.converged and np.linalg.norm(b - A @ u[free]) <= 1.01e-8 * np.linalg.norm(b)

# The work of the weight is twice the energy that is kept in the strain.
strain = sym_grad(basis.interpolate(u))
energy = np.sum((lam * trace(strain) ** 2 + 2 * mu * ddot(strain, strain)) * basis.dx)
print(f"{b.size} rows; the tip sinks by {-u[rows[2]].min():.4f}; work {weight @ u:.6e}, energy {energy:.6e}")
assert abs(weight @ u - energy) <= 1e-6 * energy
