"""SciPy's functions, against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla

import krylith

SYMMETRIC = ["cg", "fcg", "minres"]
GENERAL = ["gmres", "fgmres", "bicgstab", "bicgstab_l", "idr", "lsqr"]
ALL = SYMMETRIC + GENERAL


def relative(A, x, b):
    return np.linalg.norm(b - A @ x) / np.linalg.norm(b)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("devices", [1, 3])
def test_solves(name, dtype, devices, spd, general, rng):
    A = (spd if name in SYMMETRIC else general).astype(dtype)
    b = rng.standard_normal(A.shape[0]).astype(dtype)
    rtol = 1e-8 if dtype == np.float64 else 1e-4
    x, info = getattr(krylith, name)(A, b, rtol=rtol, maxiter=5000, devices=devices, backend="host")
    assert info == 0 and info.converged and isinstance(info, int)
    assert x.dtype == dtype and x.shape == b.shape
    assert relative(A, x, b) <= 1.01 * rtol
    assert info.true_residual == pytest.approx(np.linalg.norm(b - A @ x), rel=0.05)
    assert info.solver == name and info.iterations > 0 and info.seconds > 0
    expected = sp.linalg.spsolve(sp.csc_array(A.astype(float)), b.astype(float))
    assert np.linalg.norm(x - expected) <= 1e3 * rtol * np.linalg.norm(expected)


@pytest.mark.parametrize("name", ["cg", "minres", "gmres", "bicgstab"])
def test_iterations_are_about_scipys(name, spd, rng):
    b = rng.standard_normal(spd.shape[0])
    count = 0

    def counted(_):
        nonlocal count
        count += 1

    more = {"callback_type": "pr_norm", "restart": 30} if name == "gmres" else {}
    x, status = getattr(sla, name)(spd, b, rtol=1e-8, callback=counted, **more)
    y, info = getattr(krylith, name)(spd, b, rtol=1e-8, **({"restart": 30} if more else {}))
    assert status == info == 0
    assert abs(info.iterations - count) <= max(3, 0.25 * count)  # criteria differ
    assert np.allclose(x, y, rtol=1e-4, atol=1e-6)


def test_default_rtol_is_scipys(spd, rng):
    b = rng.standard_normal(spd.shape[0])
    assert krylith.cg(spd, b)[1].rtol == 1e-5
    assert krylith.solve(spd, b)[1].rtol == 1e-8
    assert krylith.Operator(spd).cg(b)[1].rtol == 1e-8


def test_automatic(spd, general, rng):
    for A in (spd, general):
        b = rng.standard_normal(A.shape[0])
        x, info = krylith.solve(A, b)
        assert info == 0 and relative(A, x, b) <= 1e-8
        assert info.attempts[-1]["solver"] == info.solver
    wide = sp.random_array((30, 80), density=0.2, rng=rng, format="csr")
    x, info = krylith.solve(wide, np.ones(30))
    assert info == 0 and x.shape == (80,) and info.solver == "lsqr"


def test_least_squares_are_scipys(rng):
    A = sp.random_array((90, 40), density=0.2, rng=rng, format="csr")
    b = rng.standard_normal(90)
    x, info = krylith.lsqr(A, b, rtol=1e-10)
    expected = sla.lsqr(A, b, atol=1e-12, btol=1e-12)[0]
    assert info == 0 and np.allclose(x, expected, atol=1e-6)
    assert info.normal_residual is not None
    x, info = krylith.lsqr(A, b, rtol=1e-10, damping=0.5)
    assert np.allclose(x, sla.lsqr(A, b, damp=0.5, atol=1e-12, btol=1e-12)[0], atol=1e-6)


def test_status(spd):
    b = np.ones(spd.shape[0])
    x, info = krylith.cg(spd, b, rtol=1e-12, maxiter=3)
    assert info == 3 and info.iterations == 3 and not info.converged
    assert "iteration" in info.reason and info.diagnosis
    indefinite = sp.csr_array(sp.diags_array(np.where(np.arange(50) % 2, 1.0, -2.0)))
    x, info = krylith.cg(indefinite, np.ones(50))
    assert info < 0
    with pytest.raises(krylith.NotConverged) as caught:
        krylith.cg(spd, b, rtol=1e-12, maxiter=3, raise_on_failure=True)
    assert caught.value.info == 3 and caught.value.x.shape == b.shape
    b[3] = np.nan
    x, info = krylith.cg(spd, b)
    assert info < 0 and "number" in info.reason.replace("_", " ")


def test_initial_guess(spd, rng):
    expected = rng.standard_normal(spd.shape[0])
    b = spd @ expected
    start = expected.copy()
    x, info = krylith.cg(spd, b, x0=start, rtol=1e-8)
    assert info == 0 and info.iterations == 0 and np.array_equal(start, expected)
    x, info = krylith.cg(spd, b, start.reshape(-1, 1), rtol=1e-8)
    assert info.iterations == 0
    assert krylith.cg(spd, np.zeros(spd.shape[0]))[1] == 0
    for M in (None, "jacobi", krylith.amg(spd), sp.diags_array(1 / spd.diagonal())):
        assert krylith.fgmres(spd, b, "Mb", M=M, rtol=1e-8)[1] == 0
    with pytest.raises(ValueError, match="Mb"):
        krylith.cg(spd, b, "MB")
    B, starts = np.stack([b, 0 * b], axis=1), np.stack([start, start], axis=1)
    X, info = krylith.cg(spd, B, starts, rtol=1e-8)
    assert info == 0 and info.iterations == 0 and np.array_equal(X, np.stack([start, 0 * b], axis=1))


def test_precision_is_of_matrix_and_right_hand_side(spd):
    A, b = spd.astype(np.float32), np.ones(spd.shape[0], np.float32)
    for given in (A, sla.aslinearoperator(A)):
        assert krylith.cg(given, b, np.zeros(b.size))[0].dtype == np.float32
        assert krylith.cg(given, b.astype(float))[0].dtype == np.float64


@pytest.mark.parametrize("M", ["jacobi", "amg:theta=0.1", "chebyshev:degree=4", "ilu0", "spai", "gauss-seidel", "none", None])
def test_preconditioners_by_name(M, spd, rng):
    b = rng.standard_normal(spd.shape[0])
    x, info = krylith.fgmres(spd, b, M=M, rtol=1e-8)
    assert info == 0 and relative(spd, x, b) <= 1e-8
    assert info.preconditioner.startswith((M or "none").split(":")[0])


def inverse_diagonal(A):
    d = A.diagonal()
    yield lambda r: r / d
    yield sla.LinearOperator(A.shape, lambda r: r / d)
    yield sp.diags_array(1 / d)
    yield np.diag(1 / d)


def test_preconditioners_of_python(spd, rng):
    b = rng.standard_normal(spd.shape[0])
    reference = krylith.cg(spd, b, M="jacobi", rtol=1e-8)[1].iterations
    for M in inverse_diagonal(spd):
        x, info = krylith.cg(spd, b, M=M, rtol=1e-8)
        assert info == 0 and abs(info.iterations - reference) <= 1
        assert krylith.fgmres(spd, b, M=M, rtol=1e-8)[1] == 0


def test_amg_object(rng):
    A = krylith.load("gallery:poisson2d:60")
    b = rng.standard_normal(A.shape[0])
    ml = krylith.amg(A, theta=0.05)
    assert len(ml.levels) >= 2 and ml.complexity > 1 and "theta=0.05" in ml.name and ml.nbytes > 0
    x, info = krylith.cg(A, b, M=ml, rtol=1e-8)
    assert info == 0 and info.preconditioner.startswith("amg")
    assert info.iterations < krylith.cg(A, b, rtol=1e-8)[1].iterations / 3
    # SciPy's cg with krylith's multigrid.
    M = sla.LinearOperator(A.shape, ml.aspreconditioner().matvec)
    assert sla.cg(A, b, M=M, rtol=1e-8)[1] == 0
    near = np.ones((A.shape[0], 1))
    assert krylith.cg(A, b, M=krylith.amg(A, near), rtol=1e-8)[1] == 0


@pytest.mark.parametrize("devices", [1, 2])
def test_columns(devices, spd, rng):
    B = rng.standard_normal((spd.shape[0], 5))
    for order in "CF":
        X, info = krylith.cg(spd, np.array(B, order=order), rtol=1e-8, devices=devices, backend="host")
        assert X.shape == B.shape and info == 0 and len(info.columns) == 5
        for j in range(5):
            assert relative(spd, X[:, j], B[:, j]) <= 1e-8
    X, info = krylith.bicgstab(spd, B, rtol=1e-8, M=lambda r: r)
    assert info == 0 and len(info.columns) == 5
    X, info = krylith.cg(spd, B[:, :1], rtol=1e-8)
    assert X.shape == (spd.shape[0], 1)
    X, info = krylith.cg(spd, B, rtol=1e-12, maxiter=2)
    assert info != 0 and all(c != 0 for c in info.columns)


def test_callbacks(spd, rng):
    b = rng.standard_normal(spd.shape[0])
    theirs, ours = [], []
    sla.cg(spd, b, rtol=1e-8, callback=lambda x: theirs.append(x.copy()))
    x, info = krylith.cg(spd, b, rtol=1e-8, callback=ours.append)
    assert info == 0 and abs(len(ours) - len(theirs)) <= 2 and np.allclose(ours[4], theirs[4])
    assert np.allclose(ours[-1], x, atol=1e-6)
    norms = []
    x, info = krylith.gmres(spd, b, rtol=1e-8, callback=norms.append)
    assert len(norms) == info.iterations and norms[-1] < 1e-7
    seen = []
    krylith.cg(spd, b, callback=lambda *now: seen.append(now), callback_type="progress")
    assert len(seen[0]) == 4

    def enough(x):
        if len(ours) > 2:
            raise StopIteration
        ours.append(x)

    ours.clear()
    x, info = krylith.cg(spd, b, rtol=1e-8, callback=enough)
    assert info > 0 and "stopped" in info.reason


def test_real_form(rng):
    A = sp.csr_array(sp.diags_array(rng.standard_normal(40) + 4 + 1j * rng.standard_normal(40)) + 0.1j * sp.eye_array(40, k=1))
    b = rng.standard_normal(40) + 1j * rng.standard_normal(40)
    for f in (krylith.cg, krylith.solve):
        with pytest.raises(TypeError, match="real_form"):
            f(A, b)
    with pytest.raises(TypeError, match="real_form"):
        krylith.gmres(A.real, b)
    x, info = krylith.gmres(krylith.real_form(A), krylith.real_form(b), rtol=1e-10)
    assert info == 0 and np.allclose(A @ krylith.complex_form(x), b)
