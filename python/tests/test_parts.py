"""Matrices given as rows, one part a device: on host devices, whatever the machine has."""

import numpy as np
import pytest
from scipy import sparse

import krylith


def laplacian(n, dtype=np.float64):
    return sparse.diags_array([-1.0, 2.5, -0.5], offsets=[-1, 0, 1], shape=(n, n), format="csr", dtype=dtype)


def parts_of(A, cuts):
    return [sparse.csr_array(A[a:b]) for a, b in zip([0, *cuts], [*cuts, A.shape[0]])]


@pytest.mark.parametrize("cuts", [[], [30], [10, 70]])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_solves_products_transposes_and_updates(cuts, dtype):
    A = laplacian(100, dtype)
    op = krylith.Operator(parts_of(A, cuts))
    assert len(op.devices) == len(cuts) + 1
    assert op.nnz == A.nnz
    b = np.linspace(1, 2, 100).astype(dtype)
    tolerance = 1e-12 if dtype == np.float64 else 1e-4
    assert np.allclose(op @ b, A @ b, atol=tolerance)
    assert np.allclose(op.T @ b, A.T @ b, atol=tolerance)
    x, info = op.gmres(b)
    assert info == 0 and np.allclose(A @ x, b, atol=1e-3 if dtype == np.float32 else 1e-6)
    new = A.copy()
    new.data *= np.linspace(1, 1.5, new.nnz).astype(dtype)
    op.update([p.data for p in parts_of(new, cuts)])
    assert np.allclose(op @ b, new @ b, atol=tolerance)
    assert np.allclose(op.T @ b, new.T @ b, atol=tolerance)


def test_multigrid_of_parts_follows_updates():
    A = krylith.load("gallery:poisson2d:60")
    op = krylith.Operator(parts_of(A, [1000]))
    b = np.ones(A.shape[0])
    x, info = op.cg(b, M="amg")
    assert info == 0 and info.iterations < 30
    assert len(op.preconditioner("amg:theta=0.1").levels) > 1
    op.update([p.data * 3 for p in parts_of(A, [1000])])
    y, info = op.cg(b, M="amg")
    assert info == 0 and np.allclose(3 * y, x, atol=1e-5)


@pytest.mark.parametrize("name", [name for name in krylith.preconditioner_names() if name != "none"])
def test_every_preconditioner_takes_parts(name):
    A = krylith.load("gallery:poisson2d:30")
    b = np.ones(A.shape[0])
    op = krylith.Operator(parts_of(A, [400]))
    x, info = op.gmres(b, M=name)
    assert info == 0 and np.linalg.norm(b - A @ x) <= 1.1e-5 * np.linalg.norm(b)
    op.update([p.data * 3 for p in parts_of(A, [400])])
    y, info = op.gmres(b, M=name)
    assert info == 0 and np.allclose(3 * y, x, atol=1e-3 * abs(x).max())


def test_solve_chooses_multigrid_for_parts():
    A = krylith.load("gallery:poisson2d:1000")
    b = np.ones(A.shape[0])
    x, info = krylith.solve(parts_of(A, [400000]), b)
    assert info == 0 and np.linalg.norm(b - A @ x) <= 1.1e-5 * np.linalg.norm(b)
    assert info.attempts[0]["preconditioner"].startswith("amg")


def test_errors():
    A = laplacian(20)
    with pytest.raises(ValueError, match="square"):
        krylith.Operator([A, A])
    with pytest.raises(ValueError, match="different numbers of columns"):
        krylith.Operator([A, laplacian(21)])
    with pytest.raises(TypeError, match="one type"):
        krylith.Operator([parts_of(A, [5])[0], parts_of(laplacian(20, np.float32), [5])[1]])
    with pytest.raises(ValueError, match="2 parts"):
        krylith.Operator(parts_of(A, [5]), devices=3, backend="host")
    op = krylith.Operator(parts_of(A, [5]))
    with pytest.raises(ValueError, match="1 parts"):
        op.update(A.data)
    with pytest.raises(ValueError):
        op.update([A.data, A.data])
    broken = parts_of(A, [5])
    broken[1].indices[0] = 40
    with pytest.raises(krylith.InputError):
        krylith.Operator(broken)
    with pytest.raises(TypeError, match="on_device"):
        krylith.Operator(A, on_device=True)
    with pytest.raises(ValueError, match="no GPU"):
        krylith.Operator(lambda v: v, shape=(3, 3), on_device=True, backend="host")
