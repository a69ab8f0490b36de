"""Operators: products, new values, kept set-up."""

from __future__ import annotations

import threading

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla

import krylith

from conftest import laplacian, unsymmetric


@pytest.mark.parametrize("devices", [1, 2, 3])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", ["auto", "halo", "nz", "pcsr"])
def test_products(devices, dtype, kind, rng):
    A = sp.random_array((50, 50), density=0.1, rng=rng, format="csr").astype(dtype)
    op = krylith.Operator(A, devices=devices, backend="host", kind=kind)
    x, X = rng.standard_normal(50).astype(dtype), rng.standard_normal((50, 3)).astype(dtype)
    close = dict(rtol=1e-4, atol=1e-4) if dtype == np.float32 else {}
    assert np.allclose(op @ x, A @ x, **close) and (op @ x).dtype == dtype
    assert np.allclose(op @ X, A @ X, **close)
    assert np.allclose(op.rmatvec(x), A.T @ x, **close)
    assert np.allclose(x @ op, x @ A, **close) and np.allclose(X.T @ op, X.T @ A, **close)
    assert np.allclose(op.T @ x, A.T @ x, **close)
    assert op.matvec(x.reshape(-1, 1)).shape == (50, 1)
    assert op.shape == (50, 50) and op.dtype == dtype and op.nnz == A.nnz


def test_rectangular(rng):
    A = sp.random_array((20, 35), density=0.3, rng=rng, format="csr")
    for devices in (1, 3):
        op = krylith.Operator(A, devices=devices, backend="host")
        x, y = rng.standard_normal(35), rng.standard_normal(20)
        assert op.T.shape == (35, 20)
        assert np.allclose(op @ x, A @ x) and np.allclose(op.T @ y, A.T @ y)
        assert op.lsqr(y)[1] == 0
        with pytest.raises(ValueError, match="square"):
            op.cg(y)


def test_is_a_linear_operator(spd, rng):
    op = sla.aslinearoperator(krylith.Operator(spd))
    b = rng.standard_normal(spd.shape[0])
    x, status = sla.cg(op, b, rtol=1e-8)
    assert status == 0 and np.allclose(spd @ x, b, atol=1e-6)
    assert np.allclose(op.rmatvec(b), spd.T @ b)


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("M", ["jacobi", "amg", "ilu0", None])
def test_update(form, M, spd, rng):
    A = spd.asformat(form)
    op = krylith.Operator(A)
    flipped = op.T
    b = rng.standard_normal(A.shape[0])
    for step in range(4):
        A = A.copy()
        A.data = A.data * 1.1
        op.update(A.data)
        x, info = op.fgmres(b, M=M)
        assert info == 0 and np.linalg.norm(b - A @ x) <= 1e-7 * np.linalg.norm(b)
        assert np.allclose(op @ b, A @ b) and np.allclose(op.T @ b, A.T @ b)
        assert op.T is flipped
    assert op.lsqr(b, maxiter=20000)[1] == 0
    X, info = op.cg(np.ones((A.shape[0], 3)), M="jacobi")
    op.update(A.data * 2)
    Y, info = op.cg(np.ones((A.shape[0], 3)), M="jacobi")
    assert info == 0 and np.allclose(X, 2 * Y)


def test_second_solve_sets_nothing_up(rng):
    A = krylith.load("gallery:poisson2d:150")
    op = krylith.Operator(A)
    b = rng.standard_normal(A.shape[0])
    for method, M in (("cg", "amg"), ("auto", "auto"), ("cg", None)):
        first = op.solve(b, method=method, M=M)[1]
        before = op.memory()
        second = op.solve(b, method=method, M=M)[1]
        assert second == first == 0 and second.iterations == first.iterations
        assert op.memory() == before
        assert second.setup_seconds < 1e-3


def test_arrays_are_used_in_place(spd):
    b = np.ones(spd.shape[0])
    out = np.empty_like(b)
    for devices in (1, 3):
        op = krylith.Operator(spd, devices=devices, backend="host", kind="halo")
        x, info = op.cg(b, out=out)
        assert x is out and info.copies == 0 and np.allclose(spd @ out, b, atol=1e-6)
    x, info = op.cg(b[::-1])
    assert info.copies == 1
    assert krylith.Operator(spd, devices=2, backend="host", kind="nz").cg(b)[1].copies == 2
    assert np.array_equal(b, np.ones(spd.shape[0]))
    x, info = op.cg(b, out=b)  # b is overwritten
    assert info == 0 and x is b


def test_the_pattern_is_not_the_callers(spd, rng):
    A = spd.copy()
    b = rng.standard_normal(A.shape[0])
    for form in ("csr", "csc", "coo"):
        A = spd.asformat(form)
        op = krylith.Operator(A)
        for name in ("indices", "indptr", "row", "col"):
            if hasattr(A, name):
                getattr(A, name)[:] = 2**30
        assert op.cg(b, M="amg")[1] == 0 and op.solve(b)[1] == 0 and op.T is not None
        spd = laplacian(12)


def test_matrix_free(spd, general, rng):
    b = rng.standard_normal(spd.shape[0])
    for A in (spd, general):
        for op in (
            krylith.Operator(lambda x, A=A: A @ x, shape=A.shape, backend="host"),
            krylith.Operator(sla.aslinearoperator(A), backend="host"),
        ):
            assert np.allclose(op @ b, A @ b) and op.nnz == -1
            for method in ("gmres", "bicgstab", "idr"):
                seen = []
                x, info = op.solve(b, method=method, M=None, callback=seen.append)
                assert seen
                assert info == 0 and np.linalg.norm(b - A @ x) <= 2e-8 * np.linalg.norm(b)
    assert krylith.cg(sla.aslinearoperator(spd), b)[1] == 0
    d = spd.diagonal()
    assert krylith.cg(sla.aslinearoperator(spd), b, M=lambda r: r / d)[1] == 0
    assert krylith.solve(sla.aslinearoperator(spd), b)[1] == 0
    X, info = krylith.gmres(sla.aslinearoperator(spd), np.ones((spd.shape[0], 2)))
    assert info == 0 and X.shape == (spd.shape[0], 2)


def test_an_operator_in_the_preconditioner_of_another(spd, rng):
    b = rng.standard_normal(spd.shape[0])
    inner = krylith.Operator(spd)
    x, info = krylith.fgmres(spd, b, M=lambda r: inner.cg(r, rtol=1e-2)[0])
    assert info == 0 and info.iterations < 15
    x, info = krylith.fgmres(spd, b, M=lambda r: krylith.cg(spd, r, rtol=1e-2)[0])
    assert info == 0
    op = krylith.Operator(spd)
    with pytest.raises(RuntimeError, match="busy"):
        op.fgmres(b, M=lambda r: op.cg(r)[0])
    assert op.cg(b)[1] == 0


def test_threads(rng):
    A = laplacian(40)
    b = rng.standard_normal((4, A.shape[0]))
    expected = [krylith.cg(A, v, rtol=1e-8)[0] for v in b]
    found = [None] * 4

    def work(i):
        op = krylith.Operator(A, threads=1, backend="host")
        for _ in range(5):
            found[i] = op.cg(b[i])[0]

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert all(np.allclose(f, e, atol=1e-7) for f, e in zip(found, expected))


def test_words(spd):
    op = krylith.Operator(spd, devices=2, backend="host")
    x, info = op.cg(np.ones(spd.shape[0]), M="jacobi", history=True)
    assert len(op.devices) == 2 and len(op.memory()) == 2 and op.memory()[0]
    assert op.explain()["operator"] and op.explain()["preconditioner"].startswith("jacobi")
    for thing in (op, info, krylith.solve(spd, np.ones((spd.shape[0], 2)))[1]):
        assert "<table>" in thing._repr_html_() and repr(thing)
    assert info.history.size == info.iterations + 1 and info.history[0] == pytest.approx(info.rhs_norm)
    assert info.spectrum[0] < info.spectrum[1] and info.bytes[0]
    op.release()
    assert op.cg(np.ones(spd.shape[0]))[1] == 0


def test_plot(spd):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    x, info = krylith.cg(spd, np.ones(spd.shape[0]), history=True)
    assert info.plot().get_xlabel() == "iteration"
    with pytest.raises(ValueError, match="history"):
        krylith.cg(spd, np.ones(spd.shape[0]))[1].plot()


def test_same_as_unsymmetric_transposed(rng):
    A = unsymmetric(10)
    op = krylith.Operator(A, devices=2, backend="host")
    b = rng.standard_normal(A.shape[0])
    x, info = op.T.gmres(b, M="ilu0")
    assert info == 0 and np.linalg.norm(b - A.T @ x) <= 2e-8 * np.linalg.norm(b)
