"""Functions of CuPy arrays as products of a matrix: their kernels become part of a solve's loop."""

from __future__ import annotations

import inspect
from typing import Any, Callable

import numpy as np

Product = Callable[[int, int, int, int, int], None]


class _Allocates(Exception):
    pass


def _refuse(size: int) -> Any:
    raise _Allocates


class _Stream:
    """A stream as its protocol has it."""

    def __init__(self, address: int) -> None:
        self._address = address

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self._address


def _as_current(cupy: Any, stream: int, device: int) -> Any:
    if hasattr(cupy.cuda.Stream, "from_external"):  # CuPy 14
        return cupy.cuda.Stream.from_external(_Stream(stream))
    return cupy.cuda.ExternalStream(stream, device)


def of_cupy(function: Any, shape: tuple[int, int], dtype: np.dtype[Any], device: int) -> tuple[Product, bool]:
    """Returns what computes out = f(x) at addresses on a stream, and whether it can be recorded.

    It can be where the function takes `out` and allocates nothing: the loop of a solve then repeats
    its kernels, and memory that it had only for a call would be somebody else's. It is tried once,
    which also loads its kernels.
    """
    import cupy

    takes_out = "out" in inspect.signature(function).parameters

    def call(x: Any, out: Any) -> None:
        if takes_out:
            function(x, out=out)
        else:
            out[...] = function(x)

    def view(address: int, size: int) -> Any:
        memory = cupy.cuda.UnownedMemory(address, size * dtype.itemsize, None, device)
        return cupy.ndarray((size,), dtype, cupy.cuda.MemoryPointer(memory, 0))

    with cupy.cuda.Device(device):
        x, out = cupy.zeros(shape[1], dtype), cupy.zeros(shape[0], dtype)
        recorded = takes_out
        try:
            with cupy.cuda.using_allocator(_refuse):
                call(x, out)
        except _Allocates:
            recorded = False
            call(x, out)
        cupy.cuda.get_current_stream().synchronize()

    def product(x: int, columns: int, y: int, rows: int, stream: int) -> None:
        with cupy.cuda.Device(device), _as_current(cupy, stream, device):
            if recorded:
                with cupy.cuda.using_allocator(_refuse):
                    call(view(x, columns), view(y, rows))
            else:
                call(view(x, columns), view(y, rows))

    return product, recorded
