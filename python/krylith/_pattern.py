"""Patterns of matrices whose values change, with what differentiable solves keep."""

from __future__ import annotations

import threading
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _arrays
from . import _krylith as core
from ._errors import InputError, NotConverged
from ._info import Info
from ._matrices import Compressed, Coordinates, Parts, Source, as_shape, source_of
from ._operator import Operator

_CUDA = 2  # kDLCUDA


@dataclass
class _Kept:
    """An operator, and the values that it has."""

    operator: Operator
    values: Any
    is_symmetric: bool = False

    def check_symmetric(self) -> None:
        """Raises ValueError where u' A v and v' A u of random vectors differ by more than rounding."""
        if self.is_symmetric:
            return
        A = self.operator
        u, v = np.random.default_rng(0).standard_normal((2, A.shape[0])).astype(A.dtype)
        au, av = (np.asarray(A @ w, np.float64) for w in (u, v))
        scale = np.linalg.norm(u) * np.linalg.norm(av) + np.linalg.norm(v) * np.linalg.norm(au)
        if not abs(u @ av - v @ au) <= 100 * np.finfo(A.dtype).eps * scale:
            raise ValueError("the pattern was made with symmetric=True, but A isn't symmetric with these values: "
                             "the gradient would be wrong")
        self.is_symmetric = True


class Pattern:
    """Where the entries of a square sparse matrix stand, made once for solves with many values.

    It is made of (indptr, indices, shape), or of a sparse matrix of SciPy or torch whose values are
    left alone; solves take values in the order of that. It keeps the operators of A and A', which
    the first solves build, with their preconditioners. `symmetric` says that values make A
    symmetric: then A' needs no operator. Options are those of `krylith.Operator`. From torch, values
    on a GPU are used there, unless `devices` or `backend` says where to solve: then A is kept in
    host memory too.
    """

    info: Info | None = None  #: how the last solve of A x = b went
    adjoint_info: Info | None = None  #: the same of A' x = b, by which gradients are computed

    def __init__(
        self, indptr: Any, indices: Any = None, shape: Any = None, *, symmetric: bool = False, **options: Any,
    ) -> None:
        if indices is None:
            self.shape, indptr, row, col = _parts(indptr)
        else:
            self.shape, row, col = as_shape(shape), None, _index(indices)
            indptr = _index(indptr)
        rows, columns = self.shape
        if rows != columns:
            raise ValueError(f"the shape is {self.shape}: gradients are of square systems")
        if indptr is not None:
            if indptr.size != rows + 1 or indptr[0] != 0 or indptr[-1] != col.size or (indptr[1:] < indptr[:-1]).any():
                raise InputError(f"indptr must have {rows + 1} entries, which rise from 0 to {col.size}")
            row = np.repeat(np.arange(rows), np.diff(indptr))
        for index in (row, col):
            if index.size and not (0 <= index.min() and index.max() < rows):
                raise InputError(f"an index is outside of 0 to {rows - 1}")
        kind = np.int32 if col.size < 2**31 else np.int64
        self.row, self.col = row.astype(kind), col.astype(kind)  #: of each value
        self._indptr = None if indptr is None else indptr.astype(kind)
        self.on: dict[Any, Any] = {}  # row and col as torch's tensors, by device
        self.symmetric = symmetric
        if options.get("comm") is not None:
            raise ValueError("gradients can't span processes: comm is for krylith.Operator")
        self._options = options
        self._kept: dict[Any, _Kept] = {}
        self._lock = threading.RLock()

    @property
    def nnz(self) -> int:
        """How many values a solve takes."""
        return int(self.col.size)

    def __repr__(self) -> str:
        return f"<krylith.Pattern {self.shape[0]} x {self.shape[1]}, {self.nnz} entries>"

    def operator(self, values: Any) -> Operator:
        """Returns the operator of A with these values, until a solve with others."""
        with self._lock:
            return self._with(values).operator

    def _with(self, values: Any) -> _Kept:
        """Returns the operator with these values, updated where it has others.

        Values are compared, which costs less than an iteration: torch's count of changes misses those
        by `.data`, which its own gradcheck makes. They are copied, since the caller's may change.
        """
        gpu = self._gpu(values)
        if gpu is None:
            values = _arrays.to_host(values, "values")
        kind = _arrays.dtype_of(values)
        if kind not in (np.float64, np.float32):
            raise TypeError(f"values are of type {kind}: allowed are float32 and float64")
        if tuple(values.shape) != (self.nnz,):
            raise ValueError(f"values have the shape {tuple(values.shape)}: ({self.nnz},) is needed")
        kept = self._kept.get((kind, gpu))
        if kept is None or not (np.array_equal(kept.values, values) if gpu is None else kept.values.equal(values)):
            values = values.copy() if gpu is None else values.clone()
            if kept is None:
                operator = Operator(self._matrix(values, gpu), **self._options)
            else:
                operator = self._kept.pop((kind, gpu)).operator  # for good, where the update fails
                operator.update(values)
            self._kept[kind, gpu] = kept = _Kept(operator, values)
        return kept

    def _gpu(self, values: Any) -> int | None:
        """Returns the GPU on which A is made of values that lie there, or None."""
        place = _arrays.device_of(values)
        chosen = any(self._options.get(name) is not None for name in ("devices", "backend", "like"))
        if place is None or place[0] != _CUDA or chosen or self._indptr is None or core.cuda_device_count() == 0:
            return None
        return place[1]

    def _matrix(self, values: Any, gpu: int | None) -> Source:
        if self._indptr is None:
            return Coordinates(self.shape, self.row, self.col, values)
        if gpu is None:
            return Compressed(self.shape, self._indptr, self.col, values)
        there = _arrays.like(values)
        return Parts(self.shape, [(there(self._indptr), there(self.col.astype(np.int32)), values)], [gpu])

    def solve(self, values: Any, b: Any, transpose: bool, options: dict[str, Any]) -> Any:
        """Returns x of A x = b or A' x = b. One that didn't converge raises, or is warned of."""
        options = dict(options)
        fails = options.pop("raise_on_failure")
        with self._lock:
            kept = self._with(values)
            if transpose and self.symmetric:
                kept.check_symmetric()
            x, info = kept.operator.solve(b, out=None, transpose=transpose and not self.symmetric, **options)
            if transpose:
                self.adjoint_info = info
            else:
                self.info = info
        if not info.converged:
            failure = NotConverged(x, info, "the adjoint solve, on which the gradient depends: " if transpose else "")
            if fails:
                raise failure
            warnings.warn(str(failure), RuntimeWarning, stacklevel=2)
        return x


def _index(a: Any) -> _arrays.Array:
    index = _arrays.to_host(a, "the pattern")
    if index.ndim != 1 or index.dtype.kind not in "iu":
        raise InputError(f"the pattern has {index.ndim} dimensions of {index.dtype}: one of whole numbers is needed")
    return index


def _parts(A: Any) -> tuple[tuple[int, int], Any, Any, _arrays.Array]:
    """Returns the shape of a matrix, indptr or else the row of each value, and its column."""
    if getattr(A, "format", "csr") not in ("csr", "csc", "coo"):
        raise TypeError(f"the format {A.format!r} has no order of values: allowed are csr, csc and coo")
    if str(getattr(A, "layout", "")) == "torch.sparse_coo" and not A.is_coalesced():
        raise InputError("the tensor is not coalesced: coalesce() it, and take the order of its values")
    source = source_of(A)
    if isinstance(source, Coordinates):
        return source.shape, None, source.row, source.col
    if isinstance(source, Compressed):
        return source.shape, _index(source.indptr), None, _index(source.indices)
    if isinstance(source, Parts) and len(source.arrays) == 1:
        indptr, indices, _ = source.arrays[0]
        return source.shape, _index(indptr), None, _index(indices)
    raise TypeError("a pattern is made of (indptr, indices, shape), or of a sparse matrix")
