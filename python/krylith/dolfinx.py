"""DOLFINx's own matrices and vectors (la.MatrixCSR, la.Vector), without PETSc, in one process or several."""

from __future__ import annotations

from typing import Any

import numpy as np
from dolfinx import la

from ._arrays import Array
from ._info import Info
from ._operator import Operator


def _numbers(index_map: Any, size: int) -> Array:
    """Returns what the local rows or columns, ghosts last, are in the whole matrix."""
    first, last = index_map.local_range
    blocks = np.concatenate([np.arange(first, last), index_map.ghosts])
    return np.asarray(blocks[:, None] * size + np.arange(size)).ravel()


def operator(A: la.MatrixCSR, **options: Any) -> Operator:
    """Returns the operator of an assembled matrix, after its `scatter_reverse()`, over all processes of
    its communicator. Options are those of `krylith.Operator`."""
    rows = A.to_scipy().tocsr()  # own rows, local columns
    of_columns, size = A.index_map(1), A.block_size[1]
    options.setdefault("block_size", size if size <= 12 else 1)
    return Operator(
        (rows.data, _numbers(of_columns, size)[rows.indices], rows.indptr),
        shape=(rows.shape[0], of_columns.size_global * size), comm=A.index_map(0).comm, **options)


def update(operator: Operator, A: la.MatrixCSR) -> None:
    """Gives the operator the values that A has now, on the pattern that it had."""
    operator.update(A.to_scipy().tocsr().data)


def solve(
    A: la.MatrixCSR | Operator, b: la.Vector, x: la.Vector | None = None, *, start: bool = False, **options: Any,
) -> tuple[la.Vector, Info]:
    """Solves A x = b, of a matrix or what `operator` made of it, and returns x, its ghosts up to date, and
    how it went. With `start` it starts from x. b must have been summed up by `scatter_reverse(la.InsertMode.add)`.
    Options are those of `krylith.Operator.solve`."""
    made = A if isinstance(A, Operator) else operator(A)
    if x is None:
        x = la.vector(b.index_map, b.block_size, dtype=made.dtype)
    own = x.array[: made.local_shape[1]]
    _, info = made.solve(b.array[: made.local_shape[0]], own if start else None, out=own, **options)
    x.scatter_forward()
    return x, info
