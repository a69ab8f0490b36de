"""Solves of A' x = b."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla

import krylith

GENERAL = ["auto", "gmres", "fgmres", "bicgstab", "bicgstab_l", "idr", "lsqr"]
SYMMETRIC = ["cg", "fcg", "minres"]


def solves(A, x, b):
    return np.linalg.norm(b - A.T @ x) <= 2e-8 * np.linalg.norm(b)


@pytest.mark.parametrize("method", GENERAL + SYMMETRIC)
@pytest.mark.parametrize("devices", [1, 3])
def test_methods(method, devices, spd, general, rng):
    A = spd if method in SYMMETRIC else general
    b = rng.standard_normal(A.shape[0])
    op = krylith.Operator(A, devices=devices, backend="host")
    x, info = op.solve(b, method=method, transpose=True)
    assert info == 0 and solves(A, x, b) and (A is spd or not solves(A.T, x, b))
    if method != "auto":
        assert np.array_equal(getattr(op, method)(b, transpose=True)[0], getattr(op.T, method)(b)[0])
    once = krylith.solve if method == "auto" else getattr(krylith, method)
    x, info = once(A, b, rtol=1e-8, transpose=True, devices=devices, backend="host")
    assert info == 0 and solves(A, x, b)
    x, info = once(op, b, rtol=1e-8, transpose=True)
    assert info == 0 and solves(A, x, b)
    assert op.solve(b)[1] == 0


@pytest.mark.parametrize("M", ["auto", None, "jacobi", "ilu0", "amg"])
def test_names_make_the_preconditioner_of_the_transpose(M, general, rng):
    B = rng.standard_normal((general.shape[0], 3))
    op = krylith.Operator(general)
    for b in (B, B[:, 0]):
        x, info = op.gmres(b, M=M, transpose=True)
        assert info == 0 and solves(general, x, b) and x.shape == b.shape
    assert info.iterations == op.T.gmres(b, M=M)[1].iterations


def test_it_is_kept(general, rng):
    op = krylith.Operator(general)
    b = rng.standard_normal(general.shape[0])
    op.gmres(b, M="ilu0", transpose=True)
    flipped, before = op.T, op.memory()
    second = op.gmres(b, M="ilu0", transpose=True)[1]
    assert op.T is flipped and op.memory() == before and second.setup_seconds < 1e-3
    op.update(general.data * 2)
    x, info = op.gmres(b, M="ilu0", transpose=True)
    assert info == 0 and solves(2 * general, x, b) and op.T is flipped


def test_functions_as_preconditioners(general, rng):
    b = rng.standard_normal(general.shape[0])
    factors = sla.spilu(sp.csc_array(general), drop_tol=1e-3)
    seen = []

    def of_the_transpose(r):
        seen.append(r)
        return factors.solve(r, "T")

    M = sla.LinearOperator(general.shape, matvec=factors.solve, rmatvec=of_the_transpose)
    op = krylith.Operator(general)
    x, info = op.fgmres(b, M=M, transpose=True)
    assert info == 0 and solves(general, x, b) and seen
    assert info.iterations <= op.fgmres(b, M=M)[1].iterations + 2
    inverse = np.linalg.inv(general.toarray())
    for matrix in (inverse, sp.csr_array(inverse)):
        x, info = op.fgmres(b, M=matrix, transpose=True)
        assert info == 0 and info.iterations <= 2
    for function in (factors.solve, type("Mine", (), {"shape": general.shape, "matvec": factors.solve})()):
        with pytest.raises(TypeError, match="rmatvec"):
            op.fgmres(b, M=function, transpose=True)
    with pytest.raises(NotImplementedError):
        op.fgmres(b, M=sla.LinearOperator(general.shape, matvec=factors.solve), transpose=True)
    assert op.fgmres(b, transpose=True)[1] == 0


def test_preconditioners_of_operators(general, rng):
    b = rng.standard_normal(general.shape[0])
    op = krylith.Operator(general)
    x, info = op.gmres(b, M=op.T.preconditioner("ilu0"), transpose=True)
    assert info == 0 and solves(general, x, b)
    for M in (op.preconditioner("ilu0"), krylith.amg(general)):
        for solve in (op.gmres, lambda b, **options: krylith.gmres(general, b, **options)):
            with pytest.raises(ValueError, match=r"op\.T\.preconditioner\('(ilu0|amg)"):
                solve(b, M=M, transpose=True)
    with pytest.raises(TypeError):
        op.gmres(b, M=op.T, transpose=True)
    with pytest.raises(TypeError):
        op.gmres(b, M=op, transpose=True)


def test_rectangular(rng):
    A = sp.random_array((20, 35), density=0.3, rng=rng, format="csr")
    op = krylith.Operator(A)
    b = rng.standard_normal(35)
    x, info = op.lsqr(b, transpose=True, rtol=1e-10)
    assert info == 0 and np.allclose(x, np.linalg.lstsq(A.toarray().T, b)[0], atol=1e-6)
    assert np.allclose(krylith.lsqr(A, b, x, rtol=1e-10, transpose=True)[0], x)
    with pytest.raises(ValueError, match=r"\(35,\)"):
        op.lsqr(b[:20], transpose=True)
    with pytest.raises(ValueError, match=r"\(20,\)"):
        op.lsqr(b, x0=b, transpose=True)


def test_without_a_matrix(general, rng):
    free = krylith.Operator(lambda x: general @ x, shape=general.shape, backend="host")
    with pytest.raises(ValueError, match="transpose"):
        free.gmres(np.ones(general.shape[0]), transpose=True)
