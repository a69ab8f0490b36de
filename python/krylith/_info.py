"""The outcome of a solve."""

from __future__ import annotations

import html
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ._krylith import Outcome


def table(title: str, rows: dict[str, object]) -> str:
    """Returns a small table for notebooks. A tuple has a column for each of its values."""
    left = "style='text-align:left'"
    cells = "".join(
        f"<tr><th {left}>{html.escape(k)}</th>"
        + "".join(f"<td {left}>{html.escape(str(v))}</td>" for v in (row if isinstance(row, tuple) else (row,)))
        + "</tr>"
        for k, row in rows.items()
    )
    return f"<table><caption>{html.escape(title)}</caption>{cells}</table>"


def _facts(outcome: Any) -> dict[str, Any]:
    """Returns what an outcome of the module says, which can't travel to other processes itself."""
    return {name: getattr(outcome, name) for name in dir(outcome) if not name.startswith("_")}


def _restored(facts: dict[str, Any], seconds: float, columns: tuple[Info, ...]) -> Info:
    outcome: Any = SimpleNamespace(**facts)
    return Info(outcome, seconds, columns)


class Info(int):
    """How a solve went: SciPy's `info`, an int, with what krylith knows beside it.

    It is 0 where the solve converged, the number of iterations where it did not (at least 1), and
    negative where the method broke down or met numbers that aren't finite. Of several right-hand
    sides it is that of the worst one, and `columns` has one for each.
    """

    _outcome: Outcome
    seconds: float  #: of the whole call, with conversions and set-up
    columns: tuple[Info, ...]

    def __new__(cls, outcome: Outcome, seconds: float, columns: tuple[Info, ...] = ()) -> Info:
        self = super().__new__(cls, outcome.status)
        self._outcome = outcome
        self.seconds = seconds
        self.columns = columns
        return self

    @classmethod
    def of_columns(cls, outcomes: list[Outcome], seconds: float) -> Info:
        columns = tuple(cls(o, seconds) for o in outcomes)
        worst = max(columns, key=lambda c: (c != 0, c.relative_residual != c.relative_residual,
                                            c.relative_residual))
        return cls(worst._outcome, seconds, columns)

    @property
    def converged(self) -> bool:
        """Whether ||b - A x|| <= max(rtol ||b||, atol) holds, recomputed from x."""
        return int(self) == 0

    @property
    def reason(self) -> str:
        """Why the solve ended, in words."""
        return self._outcome.reason

    @property
    def iterations(self) -> int:
        return self._outcome.iterations

    @property
    def residual(self) -> float:
        """||r|| as the iteration updates it."""
        return self._outcome.residual

    @property
    def true_residual(self) -> float:
        """||b - A x||, recomputed from the x that was returned."""
        return self._outcome.true_residual

    @property
    def rhs_norm(self) -> float:
        return self._outcome.rhs_norm

    @property
    def relative_residual(self) -> float:
        """||b - A x|| / ||b||; the residual itself where b = 0."""
        return self.true_residual / self.rhs_norm if self.rhs_norm > 0 else self.true_residual

    @property
    def rtol(self) -> float:
        return self._outcome.rtol

    @property
    def setup_seconds(self) -> float:
        """Of the solver's workspace; a second solve has next to none."""
        return self._outcome.setup_seconds

    @property
    def solve_seconds(self) -> float:
        return self._outcome.solve_seconds

    @property
    def solver(self) -> str:
        """The method that gave x."""
        return self._outcome.solver

    @property
    def preconditioner(self) -> str:
        return self._outcome.preconditioner

    @property
    def diagnosis(self) -> str:
        """Why it failed, in words, and what to try; empty where it converged."""
        return self._outcome.diagnosis

    @property
    def attempts(self) -> list[dict[str, Any]]:
        """What `krylith.solve` tried, in order; empty for a method by name."""
        return self._outcome.attempts

    @property
    def history(self) -> npt.NDArray[np.float64]:
        """||r|| of each iteration from the start on; empty unless `history=True`."""
        return self._outcome.history

    @property
    def spectrum(self) -> tuple[float, float] | None:
        """Extreme eigenvalues of M^-1 A as cg finds them, with `history=True`."""
        return self._outcome.spectrum

    @property
    def normal_residual(self) -> float | None:
        """||A'(b - A x)||, by lsqr."""
        return self._outcome.normal_residual

    @property
    def bytes(self) -> list[dict[str, int]]:
        """Memory by device and purpose, at the end of the solve."""
        return self._outcome.bytes

    @property
    def recorded(self) -> bool:
        """Whether the devices repeated the iteration by themselves."""
        return self._outcome.recorded

    @property
    def copies(self) -> int:
        """How many arrays were copied for b and x; 0: they were used where they lie."""
        return self._outcome.copies

    def plot(self, ax: Any = None) -> Any:
        """Draws the convergence of a solve with `history=True`; needs matplotlib."""
        if self.history.size == 0:
            raise ValueError("there is no history: solve with history=True")
        if ax is None:
            try:
                from matplotlib import pyplot
            except ImportError as missing:
                raise ImportError("plot() needs matplotlib: pip install matplotlib") from missing

            ax = pyplot.subplots()[1]
        scale = self.rhs_norm or 1.0
        ax.semilogy(self.history / scale, label=f"{self.solver}, {self.preconditioner}")
        ax.axhline(self.rtol, color="gray", linestyle="dotted")
        ax.set_xlabel("iteration")
        ax.set_ylabel("||r|| / ||b||")
        ax.legend()
        return ax

    def _rows(self) -> dict[str, object]:
        rows: dict[str, object] = {
            "reason": self.reason,
            "solver": f"{self.solver}, preconditioner {self.preconditioner}",
            "iterations": self.iterations,
            "||b - A x|| / ||b||": f"{self.relative_residual:.3e} (asked for {self.rtol:g})",
            "seconds": f"{self.seconds:.3g}",
        }
        if self.columns:
            rows["columns"] = f"{sum(c.converged for c in self.columns)} of {len(self.columns)} converged"
        if self.diagnosis:
            rows["diagnosis"] = self.diagnosis
        return rows

    def __repr__(self) -> str:
        return f"<{int(self)}: " + "; ".join(f"{k} {v}" for k, v in self._rows().items()) + ">"

    __str__ = __repr__

    def __reduce__(self) -> Any:
        return _restored, (_facts(self._outcome), self.seconds, self.columns)

    def _repr_html_(self) -> str:
        return table("converged" if self.converged else "not converged", self._rows())
