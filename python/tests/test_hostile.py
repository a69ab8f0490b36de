"""Arguments that are wrong, or lie: each gives an exception, and none harms the process."""

from __future__ import annotations

import itertools
import sys

import numpy as np
import pytest
import scipy.sparse as sp

import krylith

from conftest import laplacian

N = 16
ALLOWED = (TypeError, ValueError, RuntimeError, MemoryError, OverflowError, AttributeError, IndexError, BufferError)


class Lies:
    """Says what it is told to say."""

    def __init__(self, **facts):
        self.__dict__.update(facts)


class LongerThanItIs:
    """A matrix whose arrays shrink after they were looked at."""

    format, shape = "csr", (N, N)

    def __init__(self):
        self.given = laplacian(4)
        self.times = 0

    indptr = property(lambda self: self.given.indptr)
    indices = property(lambda self: self.given.indices)

    @property
    def data(self):
        self.times += 1
        return self.given.data[: -self.times]

    def tocsr(self):
        return self


class Raises:
    def __getattr__(self, name):
        raise RuntimeError(name)


class NoDlpack:
    def __dlpack__(self, **kw):
        return "a capsule"

    def __dlpack_device__(self):
        return (1, 0)


def csr(**changes):
    a = laplacian(4)
    parts = dict(format="csr", shape=(N, N), data=a.data, indices=a.indices, indptr=a.indptr, tocsr=lambda: None)
    parts.update(changes)
    return Lies(**parts)


def coo(**changes):
    a = laplacian(4).tocoo()
    parts = dict(format="coo", shape=(N, N), data=a.data, row=a.row, col=a.col, tocsr=lambda: None)
    parts.update(changes)
    return Lies(**parts)


def csc(**changes):
    return csr(format="csc", **changes)


def bent(array, at, value):
    array = array.astype(np.int64)
    array[at] = value
    return array


_a = laplacian(4)
ARRAYS = {
    "data": [None, "text", _a.data[:-1], _a.data[:0], _a.data.reshape(2, -1), _a.data.astype(complex), _a.data.astype("O"),
             _a.data.astype(np.longdouble), np.float64(3), {"a": 1}, [None] * _a.nnz, _a.data.astype("U5"),
             _a.data.astype("M8[s]")],
    "indices": [None, "text", _a.indices[:-1], _a.indices.astype(float), bent(_a.indices, 0, -1), bent(_a.indices, 3, N),
                bent(_a.indices, 5, 2**31), bent(_a.indices, 5, 2**40), bent(_a.indices, -1, -(2**63)),
                _a.indices.reshape(2, -1), _a.indices.astype(np.uint64) + 2**63, _a.indices.astype(complex)],
    "indptr": [None, "text", _a.indptr[:-1], _a.indptr[:0], _a.indptr[:1], _a.indptr.astype(float), _a.indptr[::-1],
               bent(_a.indptr, -1, 2**31), bent(_a.indptr, -1, 2**62), bent(_a.indptr, -1, -1), bent(_a.indptr, 0, 1),
               bent(_a.indptr, 3, 1000), bent(_a.indptr, 3, -5), bent(_a.indptr, 8, 2**60), np.append(_a.indptr, 0)],
    "shape": [None, (N,), (N, N, N), (-1, N), (N, -1), (2**31, 2**31), (N, 2), (2, N), (2**70, 1), ("a", "b"),
              (float("nan"), N), (N + 1, N), (0, 0), 5],
}
COO = {
    "data": ARRAYS["data"][:-3],
    "row": [None, "text", _a.tocoo().row[:-1], bent(_a.tocoo().row, 0, -1), bent(_a.tocoo().row, 0, N), bent(_a.tocoo().row, 0, 2**40),
            bent(_a.tocoo().row, 2, -(2**62)), _a.tocoo().row.astype(float)],
    "col": [None, bent(_a.tocoo().col, 0, -1), bent(_a.tocoo().col, 0, N), bent(_a.tocoo().col, 0, 2**33), _a.tocoo().col[1:]],
    "shape": [None, (N,), (-1, N), (N, 2), (2, N), (2**31, 2**31), (0, 0)],
}


def matrices():
    for key, values in ARRAYS.items():
        for i, value in enumerate(values):
            yield f"csr-{key}-{i}", csr(**{key: value})
            yield f"csc-{key}-{i}", csc(**{key: value})
            if key != "shape":
                parts = dict(data=_a.data, indices=_a.indices, indptr=_a.indptr)
                parts[key] = value
                yield f"tuple-{key}-{i}", tuple(parts.values())
    for key, values in COO.items():
        for i, value in enumerate(values):
            yield f"coo-{key}-{i}", coo(**{key: value})
    others = [None, 3, 3.5, "", "-", "\0", "no/such.mtx", b"bytes", "gallery:", "gallery:nonsense", "gallery:poisson2d:-1",
              "gallery:poisson2d:99999999999", "/", "/dev/null", (), (1,), (1, 2), (1, 2, 3), (None, None, None), [], [[]],
              [1, 2], {}, object(), Raises(), np.ones(4), np.ones((2, 2, 2)), np.ones((N, N), complex), np.array("x"),
              np.array([[object()] * 2] * 2), Lies(format="csr", shape=(N, N), tocsr=lambda: 3), Lies(shape=(N, N), matvec=3),
              Lies(shape=(N, N), matvec=lambda x: None), Lies(shape=(N, N), matvec=lambda x: x[:3]),
              Lies(shape=(N, N), matvec=lambda x: x * 1j), Lies(shape=(N, N), matvec=lambda x: "text"),
              Lies(shape=("a", 2), matvec=lambda x: x), Lies(shape=(N, N), matvec=lambda x: np.ones((N, N))),
              Lies(format="xyz", shape=(N, N), tocsr=lambda: 1 / 1), LongerThanItIs(), lambda x: x, type, csr]
    for i, other in enumerate(others):
        yield f"other-{i}", other


MATRICES = dict(matrices())


@pytest.mark.parametrize("name", MATRICES)
def test_matrices(name):
    A = MATRICES[name]
    with pytest.raises(ALLOWED):
        krylith.gmres(A, np.ones(N), M="jacobi")
    with pytest.raises(ALLOWED):
        op = krylith.Operator(A)
        op @ np.ones(N)
        op.solve(np.ones(N), rtol=1e-6, raise_on_failure=True)


def vectors():
    ones = np.ones(N)
    return [3.0, "text", b"bytes", (), [], [1] * (N - 1), np.ones(N + 1), np.ones(0), np.ones((N, 0)), np.ones((1, N)),
            np.ones((N, 1, 1)), np.ones((0, N)), ones * 1j, ones.astype("O"), ones.astype(np.longdouble), ones.astype("U"),
            ones.astype("M8[s]"), [None] * N, ["a"] * N, {}, set(), object(), np.ma.masked_array(ones, [True] * N),
            sp.csr_array(np.ones((N, 1))), Raises(), NoDlpack(), Lies(__array_interface__={"shape": (N,)}), np.float64(1),
            np.zeros(N, dtype=[("a", float)]), iter([1.0] * N), type, np.broadcast_to(np.float64(1), (2**40,))]


@pytest.mark.parametrize("i", range(len(vectors())))
@pytest.mark.parametrize("where", ["b", "x0", "x", "out", "values", "B", "near"])
def test_vectors(i, where):
    op = krylith.Operator(laplacian(4))
    v = vectors()[i]
    if where == "x" and isinstance(v, np.ndarray) and v.shape == (N, 0):
        assert (op @ v).shape == (N, 0)  # it has a meaning there
        return
    calls = {
        "b": lambda: op.cg(v),
        "x0": lambda: op.cg(np.ones(N), v),
        "x": lambda: op @ v,
        "out": lambda: op.cg(np.ones(N), out=v),
        "values": lambda: op.update(v),
        "B": lambda: krylith.minres(laplacian(4), v),
        "near": lambda: krylith.amg(op, v),
    }
    with pytest.raises(ALLOWED):
        calls[where]()
    assert op.cg(np.ones(N))[1] == 0


def test_shapes_are_looked_at_before_copies():
    """No machine has the memory that a copy of these would take."""
    A = laplacian(4)
    op, long, wide = krylith.Operator(A), np.broadcast_to(np.float64(1), (2**40,)), np.broadcast_to(np.int32(0), (2**40,))
    block = np.broadcast_to(np.ones(2), (2**40, 2))
    for use in (lambda: op.cg(long), lambda: op.cg(np.ones(N), long), lambda: op @ long, lambda: op.update(long),
                lambda: op.preconditioner("amg", B=long), lambda: krylith.Operator((long, A.indices, A.indptr)),
                lambda: krylith.Operator(csc(data=long)), lambda: krylith.Operator(coo(data=long)),
                lambda: krylith.Operator((A.data, wide, A.indptr)), lambda: krylith.Operator((A.data, A.indices, wide)),
                lambda: krylith.Operator(csr(indptr=wide)), lambda: krylith.Operator(csc(indices=wide)),
                lambda: krylith.Operator(csc(indptr=wide)), lambda: krylith.Operator(coo(row=wide, col=wide)),
                lambda: krylith.Operator(lambda x: block, shape=(N, N)) @ np.ones(N), lambda: op.gmres(np.ones(N), M=lambda r: block),
                lambda: krylith.amg(op, np.broadcast_to(1.0, (N, 2**34)))):
        with pytest.raises(ValueError, match="shape|as many|indptr has|entries for"):
            use()


def test_types_that_name_a_library_that_is_not_there():
    absent = [name for name in ("torch", "cupy", "jax") if name not in sys.modules]
    if not absent:
        pytest.skip("all libraries are imported")
    liar = type("Tensor", (np.ndarray,), {"__module__": f"{absent[0]}.arrays"})
    x, info = krylith.cg(laplacian(4), np.ones(N).view(liar))
    assert info == 0 and x.shape == (N,)


def test_out_that_does_not_fit():
    op = krylith.Operator(laplacian(4))
    locked = np.empty(N)
    locked.flags.writeable = False
    shifted = np.zeros(8 * N + 1, np.uint8)[1:].view(np.float64)
    for out in (locked, shifted, np.empty(N, np.float32), np.empty(2 * N)[::2], np.empty((N, 1)), np.empty(N, ">f8"), [0.0] * N):
        with pytest.raises(ALLOWED):
            op.cg(np.ones(N), out=out)


NUMBERS = [float("nan"), -1, "text", None, 1j, [], object(), 2**70, -(2**70), float("inf"), -float("inf"), b"1", Raises()]
OPTIONS = ["rtol", "atol", "maxiter", "restart", "damping", "rtol_normal", "polynomial_degree", "shadow_vectors", "side",
           "max_seconds", "divergence_tolerance", "timeout_seconds", "stagnation_window", "stagnation_gain", "callback", "callback_type", "M",
           "nonsense", "method", "devices", "backend"]
LEGAL = {("rtol", None), ("maxiter", None), ("M", None), ("callback", None), ("callback_type", None), ("backend", None),
         ("devices", None), ("max_seconds", float("inf")), ("divergence_tolerance", float("inf")), ("maxiter", 2**70)}


@pytest.mark.parametrize("option, i", list(itertools.product(OPTIONS, range(len(NUMBERS)))))
def test_options(option, i):
    value = NUMBERS[i]
    function = {"damping": krylith.lsqr, "rtol_normal": krylith.lsqr, "polynomial_degree": krylith.bicgstab_l,
                "shadow_vectors": krylith.idr, "restart": krylith.gmres}.get(option, krylith.cg)
    legal = any(option == o and (value is v or value == v) for o, v in LEGAL if not isinstance(value, Raises))
    legal = legal or (option == "M" and callable(value))
    try:
        x, info = function(laplacian(4), np.ones(N), **{option: value})
    except ALLOWED:
        assert not legal or option == "maxiter"
    else:
        # Tolerances and limits may be anything that has a meaning; the answer is still judged.
        assert legal or option in ("divergence_tolerance", "stagnation_window", "timeout_seconds", "atol", "max_seconds", "maxiter", "damping")
        assert x.shape == (N,)


@pytest.mark.parametrize("keyword, value", [
    ("devices", 0), ("devices", -1), ("devices", 17), ("devices", 10**9), ("devices", []), ("devices", [-1]), ("devices", [2**40]),
    ("devices", "0"), ("devices", 1.5), ("devices", [1.5]), ("devices", [None]), ("threads", -1), ("threads", 10**9), ("threads", "a"),
    ("backend", "hosts"), ("backend", 3), ("kind", "hallo"), ("kind", 3), ("kind", ":measured"), ("format", "ell"), ("order", "rmc"),
    ("transport", "pigeon"), ("block_size", 0), ("block_size", 13), ("block_size", 2**40), ("block_size", "3"), ("dtype", "f2"),
    ("dtype", complex), ("dtype", "nonsense"), ("dtype", int), ("like", 3), ("like", "op"), ("shape", 3), ("nonsense", 1)])
def test_operator_keywords(keyword, value):
    with pytest.raises(ALLOWED):
        op = krylith.Operator(laplacian(4), **{"backend": "host", keyword: value})
        if keyword == "shape":  # it is for functions
            raise ValueError
        del op


MS = [
    "jacoby", "amg:theta", "amg:theta=x", "amg:theta=nan", "amg:nonsense=1", "chebyshev:degree=-1", "chebyshev:degree=99999999999999",
    ":", "", "\0", "ilut:fill=-3", 3, object(), np.ones((3, 3)), np.ones((N, N, 2)), sp.eye_array(3),
    lambda: 0, lambda r: None, lambda r: r[1:], lambda r: r * 1j, lambda r: "text", lambda r: np.ones((N, 2)), lambda r: 1 / 0,
    Lies(shape=(N, N), matvec=3), Raises(), Lies(shape=(N,), matvec=lambda r: r), krylith.Operator(laplacian(5)),
    krylith.amg(laplacian(5)), krylith.amg(sp.csr_array(laplacian(4).astype(np.float32)))]


@pytest.mark.parametrize("i", range(len(MS)))
def test_preconditioners(i):
    M = MS[i]
    op = krylith.Operator(laplacian(4))
    with pytest.raises((*ALLOWED, ZeroDivisionError)):
        op.gmres(np.ones(N), M=M)
    assert op.gmres(np.ones(N))[1] == 0


def test_what_changes_while_it_is_used():
    """Callbacks that change the arrays of the solve, or use its operator."""
    A = laplacian(4)
    op = krylith.Operator(A)
    b = np.ones(N)

    def rewrite(x):
        A.data[:] = np.nan
        A.indices[:] = 10**9
        b[:] = 3

    x, info = op.cg(b, callback=rewrite)
    assert x.shape == (N,)
    for use in (op.release, lambda: op.update(np.ones(op.nnz)), lambda: op @ b, lambda: op.T, lambda: op.preconditioner("jacobi")):
        with pytest.raises(ALLOWED):
            op.cg(np.ones(N), callback=lambda x, use=use: use(), M=None)


def test_kept_pieces_outlive_what_made_them():
    ml = krylith.amg(laplacian(8))
    flipped = krylith.Operator(laplacian(8)).T
    arrays = krylith.Operator(laplacian(8)).csr()
    x, info = krylith.cg(laplacian(8), np.ones(64), history=True)
    assert ml.matvec(np.ones(64)).shape == (64,) and flipped.cg(np.ones(64))[1] == 0
    assert arrays[0].size and info.history.size
    for _ in range(50):
        krylith.amg(laplacian(3)).operator.T
