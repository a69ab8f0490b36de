"""The options that all solves share."""

from __future__ import annotations

import difflib
import math
import operator
from typing import Any, Callable, TypedDict

from . import _krylith as core

Callback = Callable[..., object]


class MoreOptions(TypedDict, total=False):
    """Options of single methods, and rarer ones; docs/choosing_a_solver.md explains them."""

    restart: int  #: gmres, fgmres: vectors of the basis
    damping: float  #: lsqr: minimises ||b - A x||^2 + damping^2 ||x||^2
    rtol_normal: float  #: lsqr: tolerance of ||A'(b - A x)||
    polynomial_degree: int  #: bicgstab_l
    shadow_vectors: int  #: idr
    side: str  #: gmres, bicgstab: "left", "right" or "split"
    max_seconds: float
    divergence_tolerance: float
    stagnation_window: int
    stagnation_gain: float
    timeout_seconds: float


class FunctionOptions(MoreOptions, total=False):
    """Those, and what functions pass on to `Operator.solve`."""

    transpose: bool
    verbose: bool | str


_INTEGERS = ("restart", "polynomial_degree", "shadow_vectors", "stagnation_window")


def make(rtol: float | None, atol: float, maxiter: int | None, history: bool, more: Any) -> core.SolverOptions:
    """Returns the options, checked for their types; the solver checks their values."""
    options = core.SolverOptions()
    options.rtol = None if rtol is None else _number("rtol", rtol)
    options.atol = _number("atol", atol)
    options.history = bool(history)
    if maxiter is not None:
        options.max_iterations = _index("maxiter", maxiter, 0, 2**62)
    for name, value in more.items():
        if name not in MoreOptions.__annotations__:
            allowed = ["rtol", "atol", "maxiter", "M", "x0", "callback", "history", "raise_on_failure", *FunctionOptions.__annotations__]
            near = difflib.get_close_matches(name, allowed, 1)
            hint = f"did you mean {near[0]}? Allowed are" if near else "allowed are"
            raise TypeError(f"unknown option {name!r}: {hint} {', '.join(allowed)}")
        if name in _INTEGERS:
            value = _index(name, value, 0, 2**31 - 1)
        elif name != "side":
            value = _number(name, value)
        setattr(options, name, value)
    return options


def _number(name: str, value: Any) -> float:
    if value is None or isinstance(value, (str, bytes)):
        raise ValueError(f"{name} is {value!r}: a number is needed")
    number = float(value)
    if math.isnan(number):
        raise ValueError(f"{name} is not a number")
    return number


def _index(name: str, value: Any, least: int, most: int) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # 1e4 is a usual way to write it
    number = operator.index(value)
    if not least <= number <= most:
        raise ValueError(f"{name} is {number}: allowed are {least} to {most}")
    return number


def callback_type(callback: Callback | None, kind: str | None, solver: str) -> str:
    """Returns what a callback gets: "x", as SciPy's methods give, but for gmres "pr_norm"."""
    if callback is not None and not callable(callback):
        raise TypeError("callback can't be called")
    if kind is None or kind == "legacy":
        return "pr_norm" if "gmres" in solver else "x"
    if kind not in ("x", "pr_norm", "progress"):
        raise ValueError(f"callback_type is {kind!r}: allowed are 'x', 'pr_norm' and 'progress'")
    return kind
