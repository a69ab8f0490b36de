"""Right-hand sides and solutions: arrays of NumPy, and of others by their protocols."""

from __future__ import annotations

import sys
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
    kind = library_of(array)
    if kind == "torch":
        torch = sys.modules["torch"]
        return lambda x: torch.from_numpy(x).to(array.device)
    if kind == "cupy":

        def on_its_device(x: Array) -> Any:
            with array.device:
                return sys.modules["cupy"].asarray(x)

        return on_its_device
    if kind in ("jax", "jaxlib"):
        return lambda x: sys.modules["jax"].device_put(x, next(iter(array.devices())))
    return lambda x: x


def library_of(array: Any) -> str:
    """Returns the package that an array is of; none where its type only says so."""
    name = type(array).__module__.split(".")[0]
    return name if name in sys.modules else ""


def address_of(array: Any) -> int:
    """Returns where an array of NumPy, CuPy or torch begins."""
    if isinstance(array, np.ndarray):
        return int(array.ctypes.data)
    return int(array.data_ptr() if library_of(array) == "torch" else array.data.ptr)


def is_list_of_parts(v: Any) -> bool:
    """Whether this is a list of arrays on GPUs, one a device."""
    return isinstance(v, list) and bool(v) and device_of(v[0]) is not None


def wait_for(array: Any) -> None:
    """Waits for what an array's library has enqueued in its current stream, of which krylith's own
    streams know nothing."""
    kind = library_of(array)
    if kind == "torch":
        sys.modules["torch"].cuda.current_stream(array.device).synchronize()
    elif kind == "cupy":
        cupy = sys.modules["cupy"]
        with array.device:
            cupy.cuda.get_current_stream().synchronize()


def in_place(array: Any, dtype: np.dtype[Any]) -> tuple[int, int] | None:
    """Returns the address and length of a contiguous vector of this type in the memory of a CUDA
    device, after waiting for its library; None where it must be copied."""
    if library_of(array) not in ("torch", "cupy") or device_of(array) is None:
        return None
    contiguous = array.is_contiguous() if library_of(array) == "torch" else array.flags.c_contiguous
    if array.ndim != 1 or dtype_of(array) != dtype or not contiguous:
        return None
    wait_for(array)
    return address_of(array), int(array.shape[0])


def empty_like(array: Any) -> Any:
    """Returns an array on the device of `array`, of its type and length."""
    library = sys.modules[library_of(array)]
    if library_of(array) == "torch":
        return library.empty_like(array)
    with array.device:
        return library.empty_like(array)
