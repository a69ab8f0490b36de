"""SciPy's functions: cg, minres, gmres and others, and `solve`, which chooses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from . import _arrays, _devices, _options, _processes
from . import _krylith as core
from ._info import Info
from ._matrices import Compressed, Coordinates, File, Function, Parts, source_of
from ._operator import Operator
from ._preconditioner import Preconditioner

if TYPE_CHECKING:
    from typing_extensions import Unpack


class SolverFunction(Protocol):
    """The signature of `krylith.cg` and the others."""

    def __call__(
        self, A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0,
        maxiter: int | None = None, M: Any = None, callback: _options.Callback | None = None,
        callback_type: str | None = None, devices: _devices.Devices = None,
        backend: str | None = None, comm: Any = None, history: bool = False, raise_on_failure: bool = False,
        **options: Unpack[_options.FunctionOptions],
    ) -> tuple[Any, Info]: ...


def _precision(kind: np.dtype[Any], b: Any) -> np.dtype[Any]:
    """Returns float32 where A and b have at most 32 bits, as SciPy does."""
    narrow = all(k == np.float32 or k == np.float16 for k in (kind, _arrays.dtype_of(b)))
    return np.dtype(np.float32 if narrow else np.float64)


def _once(
    method: str, A: Any, b: Any, x0: Any, devices: Any, backend: Any, comm: Any, options: dict[str, Any],
) -> tuple[Any, Info]:
    """Solves once with an operator that only this call has: nothing of A is copied."""
    M = options["M"]
    if isinstance(A, Operator):
        if devices is not None or backend is not None or comm is not None:
            raise ValueError("an Operator has its devices: give devices, backend and comm to it")
        return A.solve(b, x0, method=method, **options)
    like = M.operator if isinstance(M, Preconditioner) else None
    shared = None if like is None else like._group
    link = _processes.link_of(comm, shared)
    with _processes.agreed(link or shared):
        source = source_of(A)
        if isinstance(source, (Compressed, Coordinates)):
            source.data = np.require(source.data, _precision(source.data.dtype, b))
        elif isinstance(source, Function):
            source.dtype = _precision(source.dtype, b)
        if isinstance(source, Parts) and devices is None and backend is None:
            devices, backend = source.place()
        key = _devices.key_of(devices, backend, 0, link)
    operator = Operator.__new__(Operator)
    if shared is not None:
        operator._build(source, shared, _plain(), lend=True, like=like)
        return operator.solve(b, x0, method=method, **options)
    with _devices.lent(key, link) as group:
        operator._build(source, group, _plain(), lend=True)
        return operator.solve(b, x0, method=method, **options)


def _plain() -> core.OperatorOptions:
    return core.OperatorOptions(kind="auto", format="auto", order="none", transport="auto", block_size=1)


def _function(name: str) -> SolverFunction:
    def solver(
        A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0,
        maxiter: int | None = None, M: Any = None, callback: _options.Callback | None = None,
        callback_type: str | None = None, devices: _devices.Devices = None,
        backend: str | None = None, comm: Any = None, history: bool = False, raise_on_failure: bool = False,
        **options: Unpack[_options.FunctionOptions],
    ) -> tuple[Any, Info]:
        return _once(name, A, b, x0, devices, backend, comm, dict(
            rtol=rtol, atol=atol, maxiter=maxiter, M=M, callback=callback, callback_type=callback_type,
            history=history, raise_on_failure=raise_on_failure, **options))

    solver.__name__ = solver.__qualname__ = name
    solver.__doc__ = (
        f"Solves A x = b by {name}, which {core.solver_help(name)}.\n\n"
        "Returns (x, info) as SciPy's function of this name does; `info` is 0 where the residual,\n"
        "recomputed from x, is at most max(rtol ||b||, atol), and knows more (`krylith.Info`).\n"
        "maxiter counts iterations, also of gmres. A, b, M and options are those of\n"
        "`krylith.Operator` and its `solve`, which keep for the next solve what this call frees."
    )
    return solver


cg = _function("cg")
fcg = _function("fcg")
minres = _function("minres")
gmres = _function("gmres")
fgmres = _function("fgmres")
bicgstab = _function("bicgstab")
bicgstab_l = _function("bicgstab_l")
idr = _function("idr")
lsqr = _function("lsqr")


def solve(
    A: Any, b: Any, x0: Any = None, *, rtol: float | None = None, atol: float = 0.0,
    maxiter: int | None = None, M: Any = "auto", method: str = "auto",
    callback: _options.Callback | None = None, callback_type: str | None = None, devices: _devices.Devices = None,
    backend: str | None = None, comm: Any = None, history: bool = False, raise_on_failure: bool = False,
    **options: Unpack[_options.FunctionOptions],
) -> tuple[Any, Info]:
    """Solves A x = b by a method, with a preconditioner, that are chosen by what A is, and goes on
    with the next where one fails; `info.attempts` has them. rtol is 1e-8, or 1e-5 in fp32."""
    return _once(method, A, b, x0, devices, backend, comm, dict(
        rtol=rtol, atol=atol, maxiter=maxiter, M=M, callback=callback, callback_type=callback_type,
        history=history, raise_on_failure=raise_on_failure, **options))


def load(name: Any) -> Any:
    """Returns the matrix in a file of any format that krylith reads, or a generated one
    ("gallery:poisson3d:32"), as a csr_array of SciPy's."""
    try:
        from scipy import sparse
    except ImportError:
        raise ImportError("krylith.load makes an array of SciPy's, which isn't installed; Operator and solve take "
                          "the name itself") from None
    source = source_of(name)
    if not isinstance(source, File):
        raise TypeError("the name of a file is needed")
    operator = Operator(name)
    data, indices, indptr = operator.csr()
    if data.size < 2**31:
        indptr = indptr.astype(np.int32)  # one type for both, or SciPy widens the other one
    return sparse.csr_array((data, indices, indptr), shape=operator.shape)
