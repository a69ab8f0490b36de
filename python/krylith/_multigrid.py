"""Algebraic multigrid: krylith's, and hierarchies that others have made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _devices
from . import _krylith as core
from ._matrices import Compressed, source_of
from ._operator import Operator
from ._preconditioner import Preconditioner

_OF_LEVELS = ("relaxation", "degree", "cycle", "precision", "levels", "gathered", "kind")


def _named(parameters: dict[str, Any]) -> str:
    return "amg" + "".join(f":{key}={value}" for key, value in parameters.items())


def _by_rows(levels: Sequence[Any], name: str) -> list[Any]:
    """Returns the matrices of that name of all levels as CSR matrices of SciPy's."""
    found = []
    for number, level in enumerate(levels):
        matrix: Any = getattr(level, name, None)
        if not hasattr(matrix, "tocsr"):
            raise TypeError(f"level {number} has no {name} that is a sparse matrix of SciPy's")
        found.append(matrix.tocsr())
    return found


def _lent(matrices: Sequence[Any], dtype: np.dtype[Any]) -> list[Any]:
    """Returns what the module takes, which refers to the arrays where their types are right."""
    made = core.Matrix64 if dtype == np.float64 else core.Matrix32
    sources = [source_of(matrix, dtype) for matrix in matrices]
    if not all(isinstance(s, Compressed) for s in sources):
        raise TypeError("matrices of levels must be in host memory")
    return [made(*s.shape, s.indptr, s.indices, s.data, True) for s in sources if isinstance(s, Compressed)]


class Multigrid:
    """amg(A) returns algebraic multigrid for A, a matrix or an Operator, to be given as M: with `levels`,
    `complexity` and `aspreconditioner()`. B, of shape (n, k), has vectors that A maps to nearly 0; a block_size
    of 1 leaves the rows of a node to be found in the pattern; parameters are those of the name, such as
    theta=0.1. amg.from_levels(ml) takes a hierarchy of PyAMG's."""

    def __call__(
        self, A: Any, B: Any = None, *, block_size: int = 1, devices: _devices.Devices = None,
        backend: str | None = None, comm: Any = None, **parameters: Any,
    ) -> Preconditioner:
        if not isinstance(A, Operator):
            A = Operator(A, devices=devices, backend=backend, block_size=block_size, comm=comm)
        made: Preconditioner = A.preconditioner(_named(parameters), B=B, block_size=block_size)
        return made

    def from_levels(
        self, ml: Any, devices: _devices.Devices = None, backend: str | None = None,
        A: Operator | None = None, **parameters: Any,
    ) -> Preconditioner:
        """Returns a cycle over given levels as a preconditioner of A, an Operator, or of one made of the first
        level. Items of `ml.levels` have sparse matrices A and, but the last, P and R, as those of PyAMG do.
        Smoothers and the inverse of a small last matrix are krylith's. Parameters are degree, cycle,
        precision, levels, gathered and kind of "amg". `Operator.update` makes the result unusable."""
        levels = getattr(ml, "levels", None)
        if not isinstance(levels, Sequence) or not levels:
            raise TypeError("ml has no levels: allowed are hierarchies as PyAMG makes them")
        for key in parameters:
            if key not in _OF_LEVELS:
                raise TypeError(f"unknown option {key!r}: allowed are {', '.join(_OF_LEVELS)}")
        a, p, r = _by_rows(levels, "A"), _by_rows(levels[:-1], "P"), _by_rows(levels[:-1], "R")
        if A is None:
            A = Operator(a[0], devices=devices, backend=backend)
        elif not isinstance(A, Operator):
            raise TypeError("A must be an Operator: it is made of the first level where none is given")
        elif devices is not None or backend is not None:
            raise ValueError("an Operator has its devices: give devices and backend to it")
        if A._group.processes > 1:
            raise ValueError("amg.from_levels can't span processes: A is an Operator of several")
        lent_a, lent_p, lent_r = (_lent(matrices, A.dtype) for matrices in (a, p, r))
        return Preconditioner(A, A._core.make_of_levels(lent_a, lent_p, lent_r, _named(parameters)))


amg = Multigrid()
