"""Hierarchies that others have made: by hand, and PyAMG's."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla

import krylith

from conftest import laplacian, unsymmetric


def squares(n: int, w: int) -> sp.csr_array:
    """The prolongation of aggregates of w x w points of an n x n grid."""
    m = -(-n // w)
    i, j = np.divmod(np.arange(n * n), n)
    return sp.csr_array((np.ones(n * n), ((np.arange(n * n)), (i // w) * m + j // w)), shape=(n * n, m * m))


def by_hand(A, sizes=((24, 3), (8, 2)), restrict=lambda P: P.T):
    levels = [SimpleNamespace(A=A)]
    for n, w in sizes:
        P = squares(n, w)
        R = restrict(P)
        levels[-1].P, levels[-1].R = P, R
        levels.append(SimpleNamespace(A=sp.csr_array(R @ levels[-1].A @ P)))
    return SimpleNamespace(levels=levels)


@pytest.fixture
def ml():
    return by_hand(laplacian(24))


def solved(A, M, b, method="cg"):
    x, info = getattr(krylith, method)(A, b, M=M, rtol=1e-8)
    assert info == 0 and np.linalg.norm(b - A @ x) <= 1e-8 * np.linalg.norm(b)
    return info.iterations


@pytest.mark.parametrize("devices", [1, 2, 3])
@pytest.mark.parametrize("gathered", [0, 1000, 10**7])
def test_cycles_on_devices(devices, gathered, ml, rng):
    A = ml.levels[0].A
    b = rng.standard_normal(A.shape[0])
    M = krylith.amg.from_levels(ml, devices=devices, backend="host", gathered=gathered)
    assert [level["rows"] for level in M.levels] == [576, 64, 16]
    assert [level["nonzeros"] for level in M.levels] == [level.A.nnz for level in ml.levels]
    assert M.levels[-1]["format"] == "dense inverse"
    assert M.complexity == pytest.approx(sum(level.A.nnz for level in ml.levels) / A.nnz)
    assert M.name.startswith("amg_of_levels:degree=2") and M.nbytes > 0
    alone = krylith.amg.from_levels(ml, devices=1, backend="host")
    assert np.allclose(M @ b, alone @ b, rtol=1e-4, atol=1e-5 * np.abs(M @ b).max())
    iterations = solved(A, M, b)
    assert iterations == solved(A, alone, b) and iterations < krylith.cg(A, b, rtol=1e-8)[1].iterations / 2
    assert sla.cg(A, b, M=sla.LinearOperator(A.shape, M.aspreconditioner().matvec), rtol=1e-8)[1] == 0


def test_the_cycle_is_symmetric(ml, rng):
    M = krylith.amg.from_levels(ml, precision="fp64")
    u, v = rng.standard_normal((2, M.shape[0]))
    assert u @ (M @ v) == pytest.approx(v @ (M @ u), rel=1e-10) and u @ (M @ u) > 0


def test_parameters_and_operators(ml, rng):
    op = krylith.Operator(ml.levels[0].A, devices=2, backend="host", order="rcm")
    b = rng.standard_normal(op.shape[0])
    M = krylith.amg.from_levels(ml, A=op)
    iterations = op.cg(b, M=M)[1].iterations
    stronger = krylith.amg.from_levels(ml, A=op, degree=4, cycle="w", precision="fp64")
    assert "degree=4:cycle=w:precision=fp64" in stronger.name
    assert len(krylith.amg.from_levels(ml, A=op, levels=2).levels) == 2
    assert M.operator is op and 0 < op.cg(b, M=stronger)[1].iterations < iterations
    x, info = op.cg(np.stack([b, 2 * b], 1), M=M)
    assert info == 0
    free = krylith.Operator(lambda v: ml.levels[0].A @ v, shape=op.shape, backend="host")
    assert free.gmres(b, M=krylith.amg.from_levels(ml, A=free))[1] == 0
    for level in ml.levels:
        level.A = sp.csc_array(level.A.astype(np.float32))
    narrow = krylith.amg.from_levels(ml)
    assert narrow.dtype == np.float32
    assert krylith.cg(ml.levels[0].A, b.astype(np.float32), M=narrow)[1] == 0


def test_what_is_not_symmetric(rng):
    A = unsymmetric(24)
    injected = by_hand(laplacian(24), restrict=lambda P: sp.csr_array(P.T.multiply(np.arange(P.shape[0]) % 2 + 0.5)))
    for ml in (by_hand(A), injected):
        A = ml.levels[0].A
        b = rng.standard_normal(A.shape[0])
        M = krylith.amg.from_levels(ml)
        solved(A, M, b, "gmres")
        with pytest.raises(ValueError, match="symmetric"):
            krylith.cg(A, b, M=M)


def test_new_values_need_new_levels(ml):
    op = krylith.Operator(ml.levels[0].A)
    b = np.ones(op.shape[0])
    M = krylith.amg.from_levels(ml, A=op)
    op.update(2 * ml.levels[0].A.data)
    for use in (lambda: op.cg(b, M=M), lambda: M @ b):
        with pytest.raises(ValueError, match="levels were given"):
            use()
    for level in ml.levels:
        level.A = 2 * level.A
    assert op.cg(b, M=krylith.amg.from_levels(ml, A=op))[1] == 0


def test_what_is_wrong_is_named(ml):
    def refused(kind, words, call):
        with pytest.raises(kind, match=words):
            call()

    of = krylith.amg.from_levels
    refused(TypeError, "levels", lambda: of(ml.levels[0].A))
    refused(TypeError, "levels", lambda: of(SimpleNamespace(levels=[])))
    refused(TypeError, "level 0 has no A", lambda: of(krylith.amg(ml.levels[0].A)))
    refused(TypeError, "theta", lambda: of(ml, theta=0.1))
    refused(ValueError, "degree", lambda: of(ml, degree=0))
    refused(TypeError, "Operator", lambda: of(ml, A=ml.levels[0].A))
    refused(ValueError, "devices", lambda: of(ml, A=krylith.Operator(ml.levels[0].A), devices=2))
    refused(ValueError, "level 0 is 576 x 576; allowed is 144 x 144", lambda: of(ml, A=krylith.Operator(laplacian(12))))
    P = ml.levels[1].P
    del ml.levels[1].P
    refused(TypeError, "level 1 has no P", lambda: of(ml))
    ml.levels[1].P = P[:, :5]
    refused(ValueError, "prolongation of level 1 is 64 x 5; allowed is 64 x 16", lambda: of(ml))
    ml.levels[1].P = P.copy()
    ml.levels[1].P.data[7] = np.nan
    refused(krylith.InputError, "row 7 .* of the prolongation of level 1", lambda: of(ml))
    ml.levels[1].P = P.astype(complex)
    refused(TypeError, "complex", lambda: of(ml))
    ml.levels[1].P = P
    ml.levels[1].A = ml.levels[1].A - sp.diags_array(np.full(64, 100.0))
    refused(krylith.InputError, "diagonal entry of row 0 .* level 1", lambda: of(ml))


@pytest.mark.parametrize("devices", [1, 3])
@pytest.mark.parametrize("kind", ["smoothed_aggregation", "ruge_stuben", "rootnode", "pairwise"])
def test_pyamg(kind, devices, rng):
    pyamg = pytest.importorskip("pyamg")
    A = sp.csr_array(pyamg.gallery.poisson((60, 60), format="csr"))
    ml = getattr(pyamg, f"{kind}_solver")(sp.csr_matrix(A))
    b = rng.standard_normal(A.shape[0])
    theirs = []
    ml.solve(b, tol=1e-8, accel="cg", maxiter=100, residuals=theirs)
    M = krylith.amg.from_levels(ml, devices=devices, backend="host")
    assert len(M.levels) == len(ml.levels) > 2
    assert M.complexity == pytest.approx(sum(level.A.nnz for level in ml.levels) / A.nnz)
    assert solved(A, M, b) <= 1.1 * len(theirs) + 1


def test_pyamg_of_elasticity(rng):
    pyamg = pytest.importorskip("pyamg")
    A, B = pyamg.gallery.linear_elasticity((30, 30), format="bsr")
    ml = pyamg.smoothed_aggregation_solver(A, B)
    assert ml.levels[0].A.format == "bsr"
    b = rng.standard_normal(A.shape[0])
    theirs = []
    ml.solve(b, tol=1e-8, accel="cg", maxiter=100, residuals=theirs)
    assert solved(sp.csr_array(A), krylith.amg.from_levels(ml, devices=2, backend="host"), b) <= 1.1 * len(theirs) + 1


@pytest.mark.parametrize("kind", ["smoothed_aggregation", "ruge_stuben", "air"])
def test_pyamg_of_convection(kind, rng):
    pyamg = pytest.importorskip("pyamg")
    A = krylith.load("gallery:convection_diffusion:24:10")
    more = {"symmetry": "nonsymmetric"} if kind == "smoothed_aggregation" else {}
    ml = getattr(pyamg, f"{kind}_solver")(sp.csr_matrix(A), **more)
    M = krylith.amg.from_levels(ml, devices=2, backend="host")
    assert solved(A, M, rng.standard_normal(A.shape[0]), "gmres") <= 25
