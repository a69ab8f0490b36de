"""Right-hand sides and solutions: arrays of NumPy, and of others by their protocols."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any, Callable

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

_CPU = (1, 3)  # kDLCPU, kDLCUDAHost


def check_kind(dtype: np.dtype[Any], what: str) -> None:
    """Raises TypeError unless values of this type can be solved with."""
    if dtype.kind == "c":
        raise TypeError(
            f"{what} is complex ({dtype}): krylith solves real systems. krylith.real_form(A) and "
            "krylith.real_form(b) are the equivalent real ones, krylith.complex_form(x) goes back"
        )
    if dtype.kind not in "biuf" or dtype.itemsize > 8:
        raise TypeError(f"{what} has values of type {dtype}: allowed are real numbers of at most 64 bits")


def device_of(array: Any) -> tuple[int, int] | None:
    """Returns DLPack's (type, number) of the device where an array lies; None for the host."""
    where = getattr(array, "__dlpack_device__", None)
    if callable(where) and not isinstance(array, np.ndarray):
        kind, number = where()
        return None if int(kind) in _CPU else (int(kind), int(number))
    if hasattr(array, "__cuda_array_interface__"):
        return (2, 0)
    return None


def to_host(array: Any, what: str) -> Array:
    """Returns the array as one of NumPy's, copied only where it has to be."""
    if device_of(array) is not None:
        if hasattr(array, "get"):  # CuPy
            array = array.get()
        elif hasattr(array, "detach"):  # torch
            array = array.detach().cpu().numpy()
        elif hasattr(array, "copy_to_host"):  # Numba
            array = array.copy_to_host()
    elif hasattr(array, "detach"):
        array = array.detach().numpy()
    if type(array).__module__.startswith("scipy.sparse"):
        raise TypeError(f"{what} is a sparse matrix: a dense vector is needed")
    if isinstance(array, np.ma.MaskedArray):
        raise TypeError(f"{what} is a masked array: what is masked has no value")
    if hasattr(array, "__dlpack__") and not hasattr(array, "__array__"):
        result: Array = np.from_dlpack(array)
    else:
        result = np.asarray(array)
    check_kind(result.dtype, what)
    return result


def dtype_of(array: Any) -> np.dtype[Any]:
    """Returns the type of the values, wherever they lie."""
    found = getattr(array, "dtype", None)
    return np.asarray(array).dtype if found is None else np.dtype(str(found).replace("torch.", ""))


def usable(array: Array, dtype: np.dtype[Any]) -> Array:
    """Returns the array contiguous (by columns), aligned, and of this type: itself if it is."""
    return np.require(array, dtype=dtype, requirements=["F", "A"])


def like(array: Any) -> Callable[[Array], Any]:
    """Returns what makes of an array of NumPy's one of the kind of `array`, on its device."""
    kind = type(array).__module__.split(".")[0]
    if kind == "torch":
        torch = sys.modules["torch"]
        return lambda x: torch.from_numpy(x).to(array.device)
    if kind == "cupy":
        return lambda x: sys.modules["cupy"].asarray(x)
    if kind in ("jax", "jaxlib"):
        return lambda x: sys.modules["jax"].numpy.asarray(x)
    return lambda x: x


@dataclass
class OnDevice:
    """A vector in the memory of a CUDA device, to be used where it lies."""

    array: Any
    address: int
    size: int


def on_device(array: Any, dtype: np.dtype[Any]) -> OnDevice | None:
    """Returns where a contiguous vector of this type lies, or None where it must be copied.

    What its library has enqueued in its current stream is waited for: krylith's streams know
    nothing of it. This has not been run on a GPU yet.
    """
    kind = type(array).__module__.split(".")[0]
    if kind == "torch":
        torch = sys.modules["torch"]
        names = {np.dtype(np.float64): torch.float64, np.dtype(np.float32): torch.float32}
        if array.dim() != 1 or array.dtype != names[dtype] or not array.is_contiguous():
            return None
        torch.cuda.current_stream(array.device).synchronize()
        return OnDevice(array, array.data_ptr(), array.numel())
    facts = getattr(array, "__cuda_array_interface__", None)
    if not isinstance(facts, dict):
        return None
    shape, strides = facts["shape"], facts.get("strides")
    if len(shape) != 1 or np.dtype(facts["typestr"]) != dtype:
        return None
    if strides is not None and tuple(strides) != (dtype.itemsize,):
        return None
    if kind == "cupy":
        with array.device:  # streams are those of the current device
            sys.modules["cupy"].cuda.get_current_stream().synchronize()
    elif facts.get("stream") is not None:
        return None  # nobody here can wait for that stream
    return OnDevice(array, int(facts["data"][0]), int(shape[0]))


def empty_like(array: Any) -> Any:
    """Returns an array on the device of `array`, of its type and length."""
    kind = type(array).__module__.split(".")[0]
    if kind == "cupy":
        with array.device:
            return sys.modules[kind].empty_like(array)
    if kind == "torch":
        return sys.modules[kind].empty_like(array)
    return None
