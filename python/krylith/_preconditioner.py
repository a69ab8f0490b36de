"""Preconditioners: what a solve takes as M."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _arrays
from ._info import table
from ._matrices import Function
from ._processes import agreed

if TYPE_CHECKING:
    from ._operator import Operator


class Preconditioner:
    """A preconditioner of an operator; `Operator.preconditioner` and `krylith.amg` make it.

    Solvers of this package take it as M. `aspreconditioner()` gives others a LinearOperator's
    `matvec`. `update` of the operator updates it, too, unless it is of given levels.
    """

    def __init__(self, operator: Operator, core_m: Any) -> None:
        self.operator = operator
        self._m = core_m
        self.shape = operator.shape
        self.dtype = operator.dtype

    @property
    def name(self) -> str:
        """The text that makes it, with all parameters; of given levels "amg_of_levels..."."""
        return str(self._idle().name)

    @property
    def nbytes(self) -> int:
        """On the device that keeps most."""
        return int(self._idle().nbytes)

    @property
    def levels(self) -> list[dict[str, Any]]:
        """Of multigrid: rows, nonzeros and format of each level, from A on."""
        return list(self._idle().levels)

    @property
    def complexity(self) -> float:
        """Of multigrid: the nonzeros of all levels over those of A."""
        return float(self._idle().complexity)

    def _idle(self) -> Any:
        """Returns what the module has, which no other thread is changing."""
        self.operator._core.check_idle()
        return self._m

    def matvec(self, r: Any) -> _arrays.Array:
        """Returns M^-1 r; of several columns, that of each."""
        if np.ndim(r) == 2 and np.shape(r)[1] != 1:
            return np.stack([self.matvec(column) for column in _arrays.to_host(r, "r").T], axis=1)
        rows, _ = self.operator.local_shape
        with agreed(self.operator._group):
            values = self.operator._vector(r, "r", rows)[0]
        z = np.empty(rows, self.dtype)
        self.operator._core.precondition(self._m, values, z)
        return z

    __matmul__ = __call__ = matvec

    def aspreconditioner(self) -> Preconditioner:
        """Returns itself: PyAMG's word."""
        return self

    def __reduce__(self) -> Any:
        raise TypeError("a Preconditioner holds devices and can't be copied or pickled: make another one by its name")

    def __repr__(self) -> str:
        return f"<krylith.Preconditioner {self.name}, {self.shape[0]} rows>"

    def _repr_html_(self) -> str:
        rows: dict[str, object] = {"rows": self.shape[0], "type": self.dtype, "bytes": self.nbytes}
        if self.levels:
            rows["complexity"] = f"{self.complexity:.3f}"
            rows["level"] = tuple(self.levels[0])
            rows.update((str(number), tuple(level.values())) for number, level in enumerate(self.levels))
        return table(f"krylith.Preconditioner {self.name}", rows)


def kind_of_m(M: Any, A: Operator) -> str | None:
    """Returns what of M must be the same in all processes: what as_m() communicates depends on it."""
    if M is None or isinstance(M, str):
        return M
    if isinstance(M, Preconditioner):
        return "a preconditioner of " + ("this operator" if M.operator is A else "another operator")
    return "a function or matrix"


def as_m(M: Any, A: Operator, transpose: bool) -> Any:
    """Returns M, which approximates the inverse of A, as the module takes it; with `transpose`
    what approximates that of A'."""
    if isinstance(M, str) and not M:
        raise ValueError("M is an empty text: allowed are names, and None")
    if M is None or isinstance(M, str):
        return M
    solved = A.T if transpose else A
    if M is A or M is solved:
        raise TypeError("M approximates the inverse of A: A itself is none")
    if isinstance(M, Preconditioner):
        if transpose and M.operator is not solved:
            raise ValueError(
                f"M is a preconditioner of A, and A' x = b is solved, where it need not be one: give its name, "
                f"M={M.name!r}, or one of the same operator's A', op.T.preconditioner({M.name!r})"
            )
        if M.operator is not solved and M.operator._group is not solved._group:
            raise ValueError("M is of an operator on other devices: build A with like=M.operator")
        if M.dtype != solved.dtype or M.shape != solved.shape:
            raise ValueError(f"M is {M.shape} of {M.dtype}, A is {solved.shape} of {solved.dtype}")
        if M.operator is not solved:
            M.operator._core.refresh(M._m)
        return M._m
    shape = getattr(M, "shape", None)
    if shape is not None and tuple(shape) != A.local_shape:
        raise ValueError(f"M has the shape {tuple(shape)}, A has {A.local_shape}")
    if hasattr(M, "matvec"):
        product = getattr(M, "rmatvec", None) if transpose else M.matvec
    elif shape is not None and hasattr(M, "__matmul__"):
        product = (M.T if transpose else M).__matmul__
    elif callable(M):
        product = None if transpose else M
    else:
        raise TypeError(f"M is {type(M).__name__}: allowed are names, preconditioners and functions")
    if product is None:
        raise TypeError("M is a function, and A' x = b is solved: give a LinearOperator that has rmatvec")
    return solved._checked(Function(solved.local_shape, product))
