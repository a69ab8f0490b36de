"""Operators: a matrix on devices, with what its solves keep."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, Callable, Union

import numpy as np
import numpy.typing as npt

from . import _arrays, _devices, _options
from . import _krylith as core
from ._errors import NotConverged
from ._info import Info, table
from ._matrices import Compressed, Coordinates, DeviceRows, File, Function, Source, source_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

Core = Union[core.Operator64, core.Operator32]


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
        return str(self._m.name)

    @property
    def nbytes(self) -> int:
        """On the device that keeps most."""
        return int(self._m.nbytes)

    @property
    def levels(self) -> list[dict[str, Any]]:
        """Of multigrid: rows, nonzeros and format of each level, from A on."""
        return list(self._m.levels)

    @property
    def complexity(self) -> float:
        """Of multigrid: the nonzeros of all levels over those of A."""
        return float(self._m.complexity)

    def matvec(self, r: Any) -> _arrays.Array:
        """Returns M^-1 r."""
        values = self.operator._vector(r, "r", self.shape[0])[0]
        z = np.empty(self.shape[0], self.dtype)
        self.operator._core.precondition(self._m, values, z)
        return z

    __matmul__ = __call__ = matvec

    def aspreconditioner(self) -> Preconditioner:
        """Returns itself: PyAMG's word."""
        return self

    def __repr__(self) -> str:
        return f"<krylith.Preconditioner {self.name}, {self.shape[0]} rows>"


class Operator:
    """A sparse matrix on one or several devices, built once for many products and solves.

    A is a sparse matrix or array of SciPy (CuPy and torch), (data, indices, indptr), the name of a
    file or "gallery:NAME", a LinearOperator, or a function with `shape`. `devices` is how many, or
    the numbers of GPUs; `backend` "host" or "cuda". Values of A in host memory are referred to, not
    copied, where they are by rows: change them by `update`.
    """

    __array_ufunc__ = None  # ndarray @ operator comes here

    if TYPE_CHECKING:  # for checkers: they come from the table of solvers, below
        cg: Callable[..., tuple[Any, Info]]
        fcg: Callable[..., tuple[Any, Info]]
        minres: Callable[..., tuple[Any, Info]]
        gmres: Callable[..., tuple[Any, Info]]
        fgmres: Callable[..., tuple[Any, Info]]
        bicgstab: Callable[..., tuple[Any, Info]]
        bicgstab_l: Callable[..., tuple[Any, Info]]
        idr: Callable[..., tuple[Any, Info]]
        lsqr: Callable[..., tuple[Any, Info]]

    def __init__(
        self,
        A: Any,
        *,
        shape: tuple[int, int] | None = None,
        dtype: npt.DTypeLike | None = None,
        devices: _devices.Devices = None,
        backend: str | None = None,
        threads: int = 0,
        kind: str = "auto",
        format: str = "auto",
        order: str = "none",
        transport: str = "auto",
        block_size: int = 1,
        like: Operator | None = None,
    ) -> None:
        source = source_of(A, dtype, shape)
        if isinstance(source, DeviceRows) and devices is None and backend is None:
            devices = [source.device]
        if like is not None and not isinstance(like, Operator):
            raise TypeError("like must be an Operator")
        group = like._group if like is not None else _devices.make(_devices.key_of(devices, backend, threads))
        options = core.OperatorOptions(
            kind=kind, format=format, order=order, transport=transport,
            block_size=_options._index("block_size", block_size, 1, 12),
        )
        self._build(source, group, options, dtype=dtype, like=like)

    def _build(
        self, source: Source, group: core.Group, options: core.OperatorOptions, *,
        dtype: npt.DTypeLike | None = None, lend: bool = False, like: Operator | None = None,
    ) -> None:
        self._group = group
        self._flipped: Operator | None = None
        self._flipped_is_old = False
        self._nnz_given = 0
        near = None if like is None else like._core
        if isinstance(source, (Compressed, Coordinates)):
            kind = source.data.dtype
            self._nnz_given = source.data.size
        elif isinstance(source, DeviceRows):
            kind = _arrays.dtype_of(source.data)
            _arrays.check_kind(kind, "A")
        else:
            kind = np.dtype(np.float64 if dtype is None else dtype)
        if kind not in (np.float64, np.float32):
            raise TypeError(f"A has values of type {kind}: on a device allowed are float64 and float32")
        if like is not None and like.dtype != kind:
            raise ValueError(f"A is {kind}, but the operator that it is to be like is {like.dtype}")
        self.dtype: np.dtype[Any] = kind
        made: Any = core.Operator64 if kind == np.float64 else core.Operator32
        self._core: Core
        if isinstance(source, Compressed):
            self._core = made.from_csr(group, source.shape, source.indptr, source.indices, source.data, lend, options, near)
        elif isinstance(source, Coordinates):
            self._core = made.from_coo(group, source.shape, source.row, source.col, source.data, options, near)
        elif isinstance(source, File):
            self._core = made.from_file(group, source.name, options, near)
        elif isinstance(source, Function):
            self._core = made.from_function(group, source.shape, self._checked(source))
        else:
            self._core = self._on_device(made, source, group, options)
        if isinstance(source, File):
            self._nnz_given = self._core.nnz
        self.shape: tuple[int, int] = self._core.shape
        self.ndim = 2

    def _checked(self, source: Function) -> Callable[[_arrays.Array], _arrays.Array]:
        """Returns the function with a result of the right type and shape."""
        matvec, rows, dtype = source.matvec, source.shape[0], self.dtype

        def product(x: _arrays.Array) -> _arrays.Array:
            y = _arrays.to_host(matvec(x), "the function's result").reshape(-1)
            if y.size != rows:
                raise ValueError(f"the function returned {y.size} entries for {rows} rows")
            return _arrays.usable(y, dtype)

        return product

    @staticmethod
    def _on_device(made: Any, source: DeviceRows, group: core.Group, options: core.OperatorOptions) -> Core:
        """Of arrays on a device, which are read where they lie. It has not been run on a GPU yet."""
        if source.shape[0] != source.shape[1]:
            raise ValueError("a matrix on a device must be square")
        if group.size != 1 or group.backend != "cuda":
            raise ValueError("a matrix on a device is solved with there: give host arrays for other devices")
        indices = source.indices
        if "int32" not in str(indices.dtype):
            if source.shape[1] >= 2**31:
                raise ValueError("columns of 32 bits are needed")
            if type(indices).__module__.startswith("torch"):
                import torch

                indices = indices.to(torch.int32)
            else:
                indices = indices.astype("int32")
        arrays = (source.indptr, indices, source.data)
        address = [a.data_ptr() if hasattr(a, "data_ptr") else a.data.ptr for a in arrays]
        wide = "int64" in str(source.indptr.dtype)
        return made.from_device(group, source.shape[0], address[0], wide, address[1], address[2], options, arrays)  # type: ignore[no-any-return]

    # ---- What it is ----------------------------------------------------------------------------

    def explain(self) -> dict[str, Any]:
        """Returns how products are made: operator, format and transport, and why."""
        return {"devices": self.devices, **self._core.explain()}

    def memory(self) -> list[dict[str, int]]:
        """Returns the bytes in use on each device by purpose."""
        return list(self._group.memory())

    @property
    def devices(self) -> list[str]:
        return list(self._group.descriptions)

    @property
    def nnz(self) -> int:
        """The entries kept; -1 where krylith doesn't know them."""
        return self._core.nnz

    def release(self) -> None:
        """Frees what solves keep for the next one."""
        self._core.release_workspace()

    def csr(self) -> tuple[_arrays.Array, _arrays.Array, _arrays.Array]:
        """Returns copies of (data, indices, indptr), duplicates as they were given."""
        arrays = self._core.csr()
        if arrays is None:
            raise ValueError("the matrix is not in host memory")
        return arrays

    def __repr__(self) -> str:
        return f"<krylith.Operator {self.shape[0]} x {self.shape[1]}, {self.dtype}, on {', '.join(self.devices)}>"

    def _repr_html_(self) -> str:
        rows = {"devices": ", ".join(self.devices), "entries": self.nnz, "type": self.dtype}
        return table(f"krylith.Operator {self.shape[0]} x {self.shape[1]}", {**rows, **self._core.explain()})

    # ---- Products ------------------------------------------------------------------------------

    def _vector(self, v: Any, what: str, length: int) -> tuple[_arrays.Array, int]:
        """Returns v as a vector that the devices can read, and how often it was copied for that."""
        host = _arrays.to_host(v, what)
        if host.shape not in ((length,), (length, 1)):
            raise ValueError(f"{what} has the shape {host.shape}: ({length},) is needed")
        flat = _arrays.usable(host.reshape(-1), self.dtype)
        return flat, int(not np.may_share_memory(flat, host) or _arrays.device_of(v) is not None)

    def matvec(self, x: Any) -> Any:
        """Returns A x."""
        values = self._vector(x, "x", self.shape[1])[0]
        y = np.empty(self.shape[0], self.dtype)
        self._core.multiply(values, y)
        return _arrays.like(x)(y.reshape((-1, 1)) if getattr(x, "ndim", 1) == 2 else y)

    def rmatvec(self, x: Any) -> Any:
        """Returns A' x. The first call builds the operator of A'."""
        return self.T.matvec(x)

    def matmat(self, X: Any) -> Any:
        """Returns A X for an X of several columns."""
        host = _arrays.to_host(X, "X")
        if host.ndim != 2 or host.shape[0] != self.shape[1]:
            raise ValueError(f"X has the shape {host.shape}: ({self.shape[1]}, k) is needed")
        result = np.empty((self.shape[0], host.shape[1]), self.dtype, order="F")
        for j in range(host.shape[1]):
            result[:, j] = self.matvec(host[:, j])
        return _arrays.like(X)(result)

    def __matmul__(self, x: Any) -> Any:
        return self.matmat(x) if np.ndim(x) == 2 else self.matvec(x)

    def __rmatmul__(self, x: Any) -> Any:
        return self.T.matmat(np.transpose(x)).T if np.ndim(x) == 2 else self.T.matvec(x)

    dot = __call__ = __matmul__

    @property
    def T(self) -> Operator:
        """The operator of the transposed matrix on the same devices. It is built once, and takes
        over what `update` has changed."""
        if self._flipped is None:
            flipped = object.__new__(Operator)
            flipped.dtype, flipped._group, flipped.ndim = self.dtype, self._group, 2
            flipped._core = self._core.transposed()
            flipped.shape = flipped._core.shape
            flipped._flipped, flipped._flipped_is_old, flipped._nnz_given = None, False, flipped._core.nnz
            self._flipped = flipped
        elif self._flipped_is_old:
            self._core.update_transposed(self._flipped._core)  # type: ignore[arg-type]
        self._flipped_is_old = False
        return self._flipped

    # ---- New values ----------------------------------------------------------------------------

    def update(self, values: Any) -> None:
        """Takes new values on the same pattern: an array in the order in which A's were given, or
        a sparse matrix in the same format. Preconditioners are updated when they are next used."""
        if hasattr(values, "format") and hasattr(values, "data"):
            if tuple(values.shape) != self.shape:
                raise ValueError(f"the shape is {values.shape}, allowed is {self.shape}")
            values = values.data
        data = _arrays.to_host(values, "values")
        if data.ndim != 1 or data.size != self._nnz_given:
            raise ValueError(f"values have the shape {data.shape}: ({self._nnz_given},) is needed")
        self._core.update(_arrays.usable(data, self.dtype))
        self._flipped_is_old = True

    def preconditioner(self, name: str = "amg", *, B: Any = None, block_size: int = 1) -> Preconditioner:
        """Returns the preconditioner of that name, such as "amg:theta=0.1". B, of shape (n, k), has
        vectors that A maps to nearly 0; `block_size` rows are those of a node."""
        if not isinstance(name, str):
            raise TypeError("the name of a preconditioner must be a text")
        near = np.empty(0)
        if B is not None:
            host = _arrays.to_host(B, "B").astype(np.float64)
            if host.ndim not in (1, 2) or host.shape[0] != self.shape[0] or host.size == 0:
                raise ValueError(f"B has the shape {host.shape}: ({self.shape[0]}, k) is needed")
            near = host.reshape(-1, order="F")
        made = self._core.make(name, _options._index("block_size", block_size, 1, 12), near)
        return Preconditioner(self, made)

    # ---- Solves --------------------------------------------------------------------------------

    def solve(
        self, b: Any, x0: Any = None, *, method: str = "auto", rtol: float | None = None,
        atol: float = 0.0, maxiter: int | None = None, M: Any = "auto",
        callback: _options.Callback | None = None, callback_type: str | None = None,
        history: bool = False, out: Any = None, raise_on_failure: bool = False,
        **options: Unpack[_options.MoreOptions],
    ) -> tuple[Any, Info]:
        """Solves A x = b and returns x and how it went.

        `method` is one of `krylith.solver_names()`, or "auto", which chooses it by what A is, and
        goes on with the next where one fails. M is a name such as "jacobi" or "amg:theta=0.1", an
        object of `preconditioner()`, a LinearOperator or matrix that approximates A^-1, None, or
        "auto". rtol is 1e-8 (fp32: 1e-5) where none is given. b may have several columns.
        """
        began = time.perf_counter()
        if not isinstance(method, str):
            raise TypeError("method must be the name of a solver")
        call = _options.make(rtol, atol, maxiter, history, options)
        kind = _options.callback_type(callback, callback_type, method)
        m = self._as_m(M)
        x, info = self._in_place(b, x0, out, method, call, m, callback, kind, began)
        if info is None:
            x, info = self._on_host(b, x0, out, method, call, m, callback, kind, began)
        if raise_on_failure and not info.converged:
            raise NotConverged(x, info)
        return x, info

    def _as_m(self, M: Any) -> Any:
        """Returns M as the module takes it."""
        if isinstance(M, str) and not M:
            raise ValueError("M is an empty text: allowed are names, and None")
        if M is None or isinstance(M, str):
            return M
        if M is self:
            raise TypeError("M approximates the inverse of A: A itself is none")
        if isinstance(M, Preconditioner):
            if M.operator is not self and M.operator._group is not self._group:
                raise ValueError("M is of an operator on other devices: build A with like=M.operator")
            if M.dtype != self.dtype or M.shape != self.shape:
                raise ValueError(f"M is {M.shape} of {M.dtype}, A is {self.shape} of {self.dtype}")
            return M._m
        shape = getattr(M, "shape", None)
        if shape is not None and tuple(shape) != self.shape:
            raise ValueError(f"M has the shape {tuple(shape)}, A has {self.shape}")
        if hasattr(M, "matvec"):
            return self._checked(Function(self.shape, M.matvec))
        if shape is not None and hasattr(M, "__matmul__"):
            return self._checked(Function(self.shape, M.__matmul__))
        if callable(M):
            return self._checked(Function(self.shape, M))
        raise TypeError(f"M is {type(M).__name__}: allowed are names, preconditioners and functions")

    @staticmethod
    def _looks_for_signals() -> bool:
        return threading.current_thread() is threading.main_thread()

    def _in_place(
        self, b: Any, x0: Any, out: Any, method: str, call: core.SolverOptions, m: Any,
        callback: Any, kind: str, began: float,
    ) -> tuple[Any, Info | None]:
        """Solves with b and x where they lie on a device; (None, None) where that can't be. A list
        has one array a device. It has not been run on a GPU yet."""
        if self._group.backend != "cuda":
            return None, None
        parts = b if isinstance(b, list) else [b]
        if not parts or any(_arrays.device_of(p) is None for p in parts):
            return None, None
        if len(parts) != self._group.size:
            return None, None
        given = out if out is not None else [_arrays.empty_like(p) for p in parts]
        targets = given if isinstance(given, list) else [given]
        at_b = [_arrays.on_device(p, self.dtype) for p in parts]
        at_x = [_arrays.on_device(p, self.dtype) for p in targets]
        if x0 is not None or None in at_b or None in at_x:
            return None, None
        result = self._core.solve_on_devices(
            [p.address for p in at_b if p], [p.size for p in at_b if p],
            [p.address for p in at_x if p], [p.size for p in at_x if p],
            method, call, m, callback, kind, self._looks_for_signals(),
        )
        return (targets if isinstance(b, list) else targets[0]), Info(result, time.perf_counter() - began)

    def _on_host(
        self, b: Any, x0: Any, out: Any, method: str, call: core.SolverOptions, m: Any,
        callback: Any, kind: str, began: float,
    ) -> tuple[Any, Info]:
        rows, columns = self.shape
        host_b = _arrays.to_host(b, "b")
        if host_b.ndim not in (1, 2) or host_b.shape[0] != rows or (host_b.ndim == 2 and host_b.shape[1] == 0):
            raise ValueError(f"b has the shape {host_b.shape}: ({rows},) or ({rows}, k) is needed")
        values = _arrays.usable(host_b, self.dtype)
        copies = int(values is not host_b) + int(_arrays.device_of(b) is not None)
        shape = (columns, *host_b.shape[1:])
        x = self._target(out, shape)
        if x0 is not None:
            start = _arrays.to_host(x0, "x0")
            if start.size != x.size or start.shape not in (shape, (columns,), (columns, 1)):
                raise ValueError(f"x0 has the shape {start.shape}: {shape} is needed")
            x[...] = start.reshape(shape)
            call.initial_guess = True
            copies += 1
        outcomes: list[core.Outcome]
        k = shape[1] if len(shape) == 2 else 1
        flat_b, flat_x = values.reshape(-1, order="F"), x.reshape(-1, order="F")
        if k > 1 and callback is None and (m is None or isinstance(m, str)) and self.nnz >= 0 and rows == columns:
            outcomes = self._core.solve_columns(flat_b, flat_x, k, method, call, m)
        else:
            outcomes = [
                self._core.solve(
                    flat_b[j * rows : (j + 1) * rows], flat_x[j * columns : (j + 1) * columns],
                    method, call, m, callback, kind, self._looks_for_signals(),
                )
                for j in range(k)
            ]
        for o in outcomes:
            o.copies += copies
        seconds = time.perf_counter() - began
        info = Info(outcomes[0], seconds) if k == 1 else Info.of_columns(outcomes, seconds)
        return (out if out is not None else _arrays.like(b)(x)), info

    def _target(self, out: Any, shape: tuple[int, ...]) -> _arrays.Array:
        if out is None:
            return np.empty(shape, self.dtype, order="F")
        if not isinstance(out, np.ndarray) or isinstance(out, np.ma.MaskedArray):
            raise TypeError("out must be an array of NumPy's, or for arrays on devices one of their kind")
        if out.shape != shape or out.dtype != self.dtype:
            raise ValueError(f"out is {out.shape} of {out.dtype}: {shape} of {self.dtype} is needed")
        if not (out.flags.f_contiguous and out.flags.writeable and out.flags.aligned):
            raise ValueError("out must be contiguous (by columns), aligned and writeable")
        return out


def _method(name: str) -> Callable[..., tuple[Any, Info]]:
    def solve(self: Operator, b: Any, x0: Any = None, *, M: Any = None, **options: Any) -> tuple[Any, Info]:
        return self.solve(b, x0, method=name, M=M, **options)

    solve.__name__ = name.replace(":", "_")
    solve.__qualname__ = f"Operator.{solve.__name__}"
    solve.__doc__ = f"Solves A x = b by {name}, which {core.solver_help(name)}; see `solve`."
    return solve


# The table of solvers is the library's: a method that it gains is one here.
for _name in core.solver_names():
    if ":" not in _name:
        setattr(Operator, _name, _method(_name))
