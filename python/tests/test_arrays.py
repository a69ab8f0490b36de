"""What A, b and x may be."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

import krylith

FORMS = ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("matrix", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_sparse(form, matrix, dtype, index, general):
    A = (general * 10).astype(dtype)
    A = (sp.csr_matrix(A) if matrix else A).asformat(form)
    for name in ("indices", "indptr"):
        if hasattr(A, name):
            setattr(A, name, getattr(A, name).astype(index))
    x = np.linspace(1, 2, A.shape[1])
    op = krylith.Operator(A)
    assert op.dtype == (np.float32 if dtype == np.float32 else np.float64)
    assert np.allclose(op @ x, A @ x, rtol=1e-4)


def test_duplicates_and_disorder(rng):
    row, col = rng.integers(0, 30, 400), rng.integers(0, 30, 400)
    coo = sp.coo_array((rng.standard_normal(400), (row, col)), shape=(30, 30))
    x = rng.standard_normal(30)
    expected = coo.toarray() @ x
    assert np.allclose(krylith.Operator(coo) @ x, expected)
    order = np.argsort(row, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=30))])
    raw = sp.csr_array((coo.data[order], col[order], indptr), shape=(30, 30))
    assert not raw.has_canonical_format
    op = krylith.Operator(raw)
    assert np.allclose(op @ x, expected) and np.allclose(op.T @ x, coo.toarray().T @ x)
    op.update(2 * raw.data)
    assert np.allclose(op @ x, 2 * expected)
    raw = raw + sp.eye_array(30) * 40
    b = np.ones(30)
    assert krylith.gmres(raw, b, M="ilu0")[1] == 0 and krylith.solve(raw, b)[1] == 0


def test_tuples(spd, rng):
    b = rng.standard_normal(spd.shape[0])
    expected = krylith.cg(spd, b)[0]
    for index in (np.int16, np.int32, np.uint32, np.int64, np.uint64):
        parts = (spd.data, spd.indices.astype(index), spd.indptr.astype(index))
        assert np.array_equal(krylith.cg(parts, b)[0], expected)
    mixed = (list(spd.data), spd.indices.astype(np.int64), spd.indptr)
    assert np.array_equal(krylith.cg(mixed, b)[0], expected)


def test_dense(spd, rng):
    b = rng.standard_normal(spd.shape[0])
    assert np.allclose(krylith.cg(spd.toarray(), b)[0], krylith.cg(spd, b)[0])


@pytest.mark.parametrize("end", ["mtx", "npz"])
def test_files(end, spd, tmp_path, rng):
    path = tmp_path / f"a.{end}"
    if end == "mtx":
        scipy.io.mmwrite(path, sp.coo_matrix(spd))
    else:
        sp.save_npz(path, sp.csr_matrix(spd))
    b = rng.standard_normal(spd.shape[0])
    for name in (path, str(path)):
        assert np.allclose(krylith.cg(name, b)[0], krylith.cg(spd, b)[0], atol=1e-7)
    assert (abs(krylith.load(path) - spd)).max() < 1e-12
    assert krylith.Operator(path, dtype=np.float32).dtype == np.float32


def test_gallery():
    x, info = krylith.solve("gallery:poisson3d:12", np.ones(12**3))
    assert info == 0


@pytest.mark.parametrize("make", [list, tuple, lambda v: v.astype(np.float32), lambda v: v[::-1][::-1],
                                  lambda v: np.stack([v, v], 1)[:, 0], lambda v: v.astype(">f8"),
                                  lambda v: np.frombuffer(b"x" + v.tobytes(), np.uint8)[1:].view(np.float64),
                                  lambda v: memoryview(v), lambda v: np.asmatrix(v).T])
def test_right_hand_sides(make, spd):
    b = np.round(np.linspace(-4, 4, spd.shape[0]))
    x, info = krylith.cg(spd, make(b), rtol=1e-8)
    assert info == 0 and np.allclose(spd @ np.asarray(x).ravel(), b, atol=1e-6)


def test_read_only(spd):
    b = np.ones(spd.shape[0])
    b.flags.writeable = False
    A = spd.copy()
    for array in (A.data, A.indices, A.indptr):
        array.flags.writeable = False
    assert krylith.cg(A, b)[1] == 0 and krylith.Operator(A).cg(b)[1] == 0


def test_whole_numbers(spd):
    b = np.arange(spd.shape[0])
    assert np.allclose(krylith.cg(spd, b)[0], krylith.cg(spd, b.astype(float))[0])


class ByProtocol:
    """An array that says what it is by DLPack alone."""

    def __init__(self, a):
        self.a = a

    def __dlpack__(self, **kw):
        return self.a.__dlpack__(**kw)

    def __dlpack_device__(self):
        return self.a.__dlpack_device__()


def test_dlpack(spd):
    b = np.linspace(0, 1, spd.shape[0])
    x, info = krylith.cg(spd, ByProtocol(b), rtol=1e-8)
    assert info == 0 and np.allclose(spd @ x, b, atol=1e-6)


def test_torch_on_the_host(spd):
    torch = pytest.importorskip("torch")
    b = torch.linspace(0, 1, spd.shape[0], dtype=torch.float64)
    x, info = krylith.cg(spd, b, rtol=1e-8, backend="host")
    assert isinstance(x, torch.Tensor) and info.copies == 0
    A = torch.sparse_csr_tensor(torch.from_numpy(spd.indptr), torch.from_numpy(spd.indices), torch.from_numpy(spd.data), spd.shape)
    y, info = krylith.cg(A, b, rtol=1e-8, backend="host")
    assert torch.equal(x, y)
