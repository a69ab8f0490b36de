"""Solves that torch differentiates.

    pattern = krylith.torch.Pattern(indptr, indices, shape)   # once
    x = krylith.torch.solve(values, pattern, b)
    loss(x).backward()                                        # one more solve, with A'
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from ._pattern import Pattern

__all__ = ["Pattern", "solve"]


@dataclass(frozen=True)
class _Call:
    """A solve of A x = b, or with `transpose` of A' x = b, and the options of the other one."""

    pattern: Pattern
    transpose: bool
    options: dict[str, Any]
    other: dict[str, Any]


def _places(pattern: Pattern, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns row and column of each value, on the device."""
    if device not in pattern.on:
        pattern.on[device] = tuple(torch.from_numpy(index).to(device) for index in (pattern.row, pattern.col))
    row, col = pattern.on[device]
    return row, col


class _Solve(torch.autograd.Function):
    @staticmethod
    def forward(values: torch.Tensor, b: torch.Tensor, call: _Call) -> torch.Tensor:
        x: torch.Tensor = call.pattern.solve(
            values.detach().contiguous(), b.detach().contiguous(), call.transpose, call.options)
        return x

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
        values, _, ctx.call = inputs
        ctx.save_for_backward(values, output)

    @staticmethod
    def backward(ctx: Any, g: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        values, x = ctx.saved_tensors
        call: _Call = ctx.call
        back = {name: option for name, option in call.options.items() if name != "x0"}
        # This function again, so that gradients of gradients follow.
        adjoint = _Solve.apply(values, g, _Call(call.pattern, not call.transpose, call.other, back))
        of_values = None
        if ctx.needs_input_grad[0]:
            row, col = _places(call.pattern, x.device)[:: -1 if call.transpose else 1]
            columns = zip(adjoint.unbind(1), x.unbind(1)) if x.dim() == 2 else [(adjoint, x)]
            of_values = -sum(left.index_select(0, row) * right.index_select(0, col) for left, right in columns)
        return of_values, adjoint, None


def solve(
    values: torch.Tensor, pattern: Pattern, b: torch.Tensor, x0: torch.Tensor | None = None, *,
    method: str = "auto", M: Any = "auto", rtol: float | None = None, raise_on_failure: bool = True,
    adjoint: dict[str, Any] | None = None, **options: Any,
) -> torch.Tensor:
    """Returns x of A x = b, differentiable in b and in the values of A, in the order of `pattern`.

    Options are those of `krylith.Operator.solve`. The gradient takes one solve of A' x = g by the
    same options but for those in `adjoint`, which is not made where nothing needs it. Gradients are
    as good as both solves: one that doesn't converge raises krylith.NotConverged, or without
    `raise_on_failure` is warned of. `pattern.info` and `pattern.adjoint_info` say how they went.
    """
    for name, tensor in (("values", values), ("b", b)):
        if not isinstance(tensor, torch.Tensor) or tensor.layout != torch.strided:
            raise TypeError(f"{name} must be a dense tensor")
    if values.dtype != b.dtype or values.device != b.device:
        raise ValueError(f"b is {b.dtype} on {b.device}, values are {values.dtype} on {values.device}: "
                         "the same is needed")
    if not isinstance(pattern, Pattern):
        raise TypeError("pattern must be a krylith.torch.Pattern")
    both = dict(options, method=method, M=M, rtol=rtol, raise_on_failure=raise_on_failure)
    x: torch.Tensor = _Solve.apply(values, b, _Call(pattern, False, {**both, "x0": x0}, {**both, **(adjoint or {})}))
    return x
