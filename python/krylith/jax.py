"""Solves that JAX differentiates, forwards and backwards, and within jit and vmap.

    pattern = krylith.jax.Pattern(indptr, indices, shape)   # once
    x = krylith.jax.solve(values, pattern, b)
    jax.grad(lambda values: loss(krylith.jax.solve(values, pattern, b)))(values)
"""

from __future__ import annotations

from typing import Any, Callable

import jax
import numpy as np

from ._pattern import Pattern

__all__ = ["Pattern", "solve"]


def solve(
    values: Any, pattern: Pattern, b: Any, *, method: str = "auto", M: Any = "auto",
    rtol: float | None = None, raise_on_failure: bool = True, adjoint: dict[str, Any] | None = None,
    **options: Any,
) -> jax.Array:
    """Returns x of A x = b, differentiable in b and in the values of A, in the order of `pattern`.

    It solves on the host, by a callback, wherever the arrays are. Options are those of
    `krylith.Operator.solve`; derivatives backwards solve A' x = g by the same but for those in
    `adjoint`. One that doesn't converge raises, of JAX's types (jax.errors.JaxRuntimeError, which
    has krylith's words), or without `raise_on_failure` is warned of. `pattern.info` and
    `pattern.adjoint_info` say how the last ones went, once they are computed.
    """
    values, b = jax.numpy.asarray(values), jax.numpy.asarray(b)
    if not isinstance(pattern, Pattern):
        raise TypeError("pattern must be a krylith.jax.Pattern")
    if values.shape != (pattern.nnz,) or b.ndim not in (1, 2) or b.shape[0] != pattern.shape[0]:
        raise ValueError(f"values and b have the shapes {values.shape} and {b.shape}: ({pattern.nnz},) and "
                         f"({pattern.shape[0]},) or ({pattern.shape[0]}, k) are needed")
    if values.dtype != b.dtype or values.dtype not in (np.float32, np.float64):
        raise TypeError(f"values and b are {values.dtype} and {b.dtype}: both must be float32, or float64")
    both = dict(options, method=method, M=M, rtol=rtol, raise_on_failure=raise_on_failure)

    def product(x: jax.Array) -> jax.Array:
        entries = values.reshape((-1,) + (1,) * (x.ndim - 1)) * x[pattern.col]
        return jax.numpy.zeros_like(x).at[pattern.row].add(entries)

    def by(transpose: bool, call: dict[str, Any]) -> Callable[[Any, jax.Array], jax.Array]:
        def on_host(values: jax.Array, b: jax.Array) -> Any:
            return pattern.solve(np.asarray(values), np.asarray(b), transpose, call)

        return lambda _, b: jax.pure_callback(on_host, jax.ShapeDtypeStruct(b.shape, b.dtype), values, b,
                                              vmap_method="sequential")

    x: jax.Array = jax.lax.custom_linear_solve(product, b, by(False, both), by(True, {**both, **(adjoint or {})}))
    return x
