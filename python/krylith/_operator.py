"""Operators: a matrix on devices, with what its solves keep."""

from __future__ import annotations

import threading
import time
import weakref
from typing import TYPE_CHECKING, Any, Callable, Union

import numpy as np
import numpy.typing as npt

from . import _arrays, _devices, _options, _progress
from . import _krylith as core
from ._captured import of_cupy
from ._errors import NotConverged
from ._info import Info, table
from ._matrices import Compressed, Coordinates, File, Function, Parts, Source, source_of
from ._preconditioner import Preconditioner, as_m

if TYPE_CHECKING:
    from typing_extensions import Unpack

Core = Union[core.Operator64, core.Operator32]


class Operator:
    """A sparse matrix on one or several devices, built once for many products and solves.

    A is a sparse matrix or array of SciPy (CuPy and torch), (data, indices, indptr), the name of a
    file or "gallery:NAME", a LinearOperator, or a function with `shape`. `devices` is how many, or
    the numbers of GPUs; `backend` "host" or "cuda". Values of A in host memory are referred to, not
    copied, where they are by rows: change them by `update`.
    """

    _parts: list[Any] | None = None  # values of A on devices

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
        on_device: bool = False,
        like: Operator | None = None,
    ) -> None:
        source = source_of(A, dtype, shape)
        if on_device and not isinstance(source, Function):
            raise TypeError("on_device is for functions: A is a matrix")
        if isinstance(source, Parts) and devices is None and backend is None:
            devices, backend = source.place()
        if like is not None and not isinstance(like, Operator):
            raise TypeError("like must be an Operator")
        group = like._group if like is not None else _devices.make(_devices.key_of(devices, backend, threads))
        options = core.OperatorOptions(
            kind=kind, format=format, order=order, transport=transport,
            block_size=_options._index("block_size", block_size, 1, 12),
        )
        self._build(source, group, options, dtype=dtype, like=like, on_device=on_device)

    def _build(
        self, source: Source, group: core.Group, options: core.OperatorOptions, *,
        dtype: npt.DTypeLike | None = None, lend: bool = False, like: Operator | None = None,
        on_device: bool = False,
    ) -> None:
        self._group = group
        self._flipped: Operator | None = None
        self._flips: weakref.ref[Operator] | None = None  # the operator whose T this is
        self._function = source if isinstance(source, Function) else None
        self._nnz_given = 0
        near = None if like is None else like._core
        if isinstance(source, (Compressed, Coordinates)):
            kind = source.data.dtype
            self._nnz_given = source.data.size
        elif isinstance(source, Parts):
            self._parts = [data for _, _, data in source.arrays]
            kind = _arrays.dtype_of(self._parts[0])
            _arrays.check_kind(kind, "A")
        else:
            kind = np.dtype(dtype or getattr(source, "dtype", np.float64))
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
            self._core = self._of_function(made, source, group, on_device)
        else:
            self._core = self._of_parts(made, source, group, options)
        if isinstance(source, File):
            self._nnz_given = self._core.nnz
        self.shape: tuple[int, int] = self._core.shape
        self.ndim = 2

    def _checked(self, source: Function) -> Callable[[_arrays.Array], _arrays.Array]:
        """Returns the function with a result of the right type and shape."""
        matvec, rows, dtype = source.matvec, source.shape[0], self.dtype

        def product(x: _arrays.Array) -> _arrays.Array:
            y = _arrays.to_host(matvec(x), "the function's result")
            if y.size != rows:
                raise ValueError(f"the function returned {y.size} entries for {rows} rows")
            return _arrays.usable(y.reshape(-1), dtype)

        return product

    def _of_function(self, made: Any, source: Function, group: core.Group, on_device: bool) -> Core:
        if not on_device:
            return made.from_function(group, source.shape, self._checked(source), "host")  # type: ignore[no-any-return]
        if group.backend != "cuda":
            raise ValueError("on_device: there is no GPU among the operator's devices")
        product, recorded = of_cupy(source.matvec, source.shape, self.dtype, group.ordinals[0])
        return made.from_function(  # type: ignore[no-any-return]
            group, source.shape, product, "device" if recorded else "device eagerly")

    @staticmethod
    def _of_parts(made: Any, source: Parts, group: core.Group, options: core.OperatorOptions) -> Core:
        if source.shape[0] != source.shape[1]:
            raise ValueError(f"A is {source.shape[0]} x {source.shape[1]}: rows on devices must be those of a square matrix")
        if group.size != len(source.arrays) or (group.backend == "cuda") != (source.devices is not None):
            raise ValueError(
                f"A has {len(source.arrays)} parts in the memory of {'the host' if source.devices is None else 'GPUs'}: "
                "its devices are as many there. Give a matrix in host memory for others"
            )
        return made.from_devices(group, source.addresses(), options, source.arrays)  # type: ignore[no-any-return]

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
        return f"<krylith.Operator {self.shape[0]} x {self.shape[1]}, {self.dtype}, on {'; '.join(self.devices)}>"

    def _repr_html_(self) -> str:
        rows = {"devices": "; ".join(self.devices), "entries": self.nnz, "type": self.dtype}
        return table(f"krylith.Operator {self.shape[0]} x {self.shape[1]}", {**rows, **self._core.explain()})

    # ---- Products ------------------------------------------------------------------------------

    def _where(self, v: Any) -> list[tuple[int, int]] | None:
        """Returns addresses and lengths of v, a vector on the operator's device or a list of one a
        device; None where it can't be used in place."""
        parts = v if isinstance(v, list) else [v]
        if self._group.backend != "cuda" or self._core.ordered or len(parts) != self._group.size:
            return None
        places = [_arrays.in_place(part, self.dtype) for part in parts]
        return None if None in places else [place for place in places if place]

    def _vector(self, v: Any, what: str, length: int) -> tuple[_arrays.Array, int]:
        """Returns v as a vector that the devices can read, and how often it was copied for that."""
        host = _arrays.to_host(v, what)
        if host.shape not in ((length,), (length, 1)):
            raise ValueError(f"{what} has the shape {host.shape}: ({length},) is needed")
        flat = _arrays.usable(host.reshape(-1), self.dtype)
        return flat, int(not np.may_share_memory(flat, host) or _arrays.device_of(v) is not None)

    def matvec(self, x: Any) -> Any:
        """Returns A x."""
        at_x = self._where(x) if self.shape[0] == self.shape[1] else None
        if at_x is not None:
            result = [_arrays.empty_like(part) for part in (x if isinstance(x, list) else [x])]
            self._core.multiply_on_devices(at_x, self._where(result) or [])
            return result if isinstance(x, list) else result[0]
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
        if _arrays.is_list_of_parts(x):
            return self.matvec(x)
        return self.matmat(x) if np.ndim(x) == 2 else self.matvec(x)

    def __rmatmul__(self, x: Any) -> Any:
        return self.T.matmat(np.transpose(x)).T if np.ndim(x) == 2 else self.T.matvec(x)

    dot = __call__ = __matmul__

    @property
    def T(self) -> Operator:
        """The operator of the transposed matrix on the same devices. It is built once, and follows
        what `update` changes; its T is this one."""
        original = None if self._flips is None else self._flips()
        if original is not None:
            return original
        if self._flipped is None:
            flipped = object.__new__(Operator)
            flipped.dtype, flipped._group, flipped.ndim = self.dtype, self._group, 2
            f = self._function
            if f is not None and f.rmatvec is not None:
                flipped._function = Function(f.shape[::-1], f.rmatvec, f.dtype, f.matvec)
                flipped._core = flipped._of_function(type(self._core), flipped._function, self._group, False)
            else:
                flipped._function = None
                flipped._core = self._core.transposed()
            flipped.shape = flipped._core.shape
            flipped._flipped, flipped._flips, flipped._nnz_given = None, weakref.ref(self), flipped._core.nnz
            self._flipped = flipped
        return self._flipped

    def __copy__(self) -> Operator:
        raise TypeError("an Operator holds devices and can't be copied or pickled: make another one of its matrix")

    def __deepcopy__(self, memo: Any) -> Operator:
        return self.__copy__()

    def __reduce__(self) -> Any:
        self.__copy__()

    # ---- New values ----------------------------------------------------------------------------

    def update(self, values: Any) -> None:
        """Takes new values on the same pattern, in the order in which A's were given; of a list of
        parts a list. Preconditioners are updated when they are next used, and T at once."""
        if self._flips is not None and self._flips() is not None:
            raise ValueError("this operator is the T of another one: update that")
        parts = values if self._parts and isinstance(values, list) else [values]
        if any(hasattr(part, "tocsr") or str(getattr(part, "layout", "")).startswith("torch.sparse") for part in parts):
            raise TypeError("values are a sparse matrix, whose pattern may be another one: give its values, such as A.data")
        if self._parts is not None:
            self._update_parts(parts)
        else:
            data = _arrays.to_host(parts[0], "values")
            if data.ndim != 1 or data.size != self._nnz_given:
                raise ValueError(f"values have the shape {data.shape}: ({self._nnz_given},) is needed, in the order of A's "
                                 "(of A.tocsr() for formats other than csr, csc and coo)")
            self._core.update(_arrays.usable(data, self.dtype))
        if self._flipped is not None:
            self._core.update_transposed(self._flipped._core)  # type: ignore[arg-type]

    def _update_parts(self, parts: list[Any]) -> None:
        old = self._parts or []
        if len(parts) != len(old):
            raise ValueError(f"values have {len(parts)} parts: {len(old)} are needed, one a device")
        on_gpus = self._group.backend == "cuda"
        new = [
            _arrays.like(was)(_arrays.usable(_arrays.to_host(v, "values"), self.dtype))
            if _arrays.device_of(v) is None or _arrays.dtype_of(v) != self.dtype else v
            for v, was in zip(parts, old)
        ]
        places = self._where(new) if on_gpus else [(_arrays.address_of(v), v.size) for v in new]
        if places is None:
            raise ValueError("values on devices must be contiguous, of A's type, and where A is")
        self._core.update_on_devices(places, new)
        self._parts = new

    def preconditioner(self, name: str = "amg", *, B: Any = None, block_size: int = 1) -> Preconditioner:
        """Returns the preconditioner of that name, such as "amg:theta=0.1". B, of shape (n, k), has
        vectors that A maps to nearly 0; `block_size` rows are those of a node."""
        if not isinstance(name, str):
            raise TypeError("the name of a preconditioner must be a text")
        near = np.empty(0)
        if B is not None:
            host = _arrays.to_host(B, "B")
            if host.ndim not in (1, 2) or host.shape[0] != self.shape[0] or not 0 < host.size <= 12 * self.shape[0]:
                raise ValueError(f"B has the shape {host.shape}: ({self.shape[0]}, k) is needed, k from 1 to 12")
            near = _arrays.usable(host, np.dtype(np.float64)).reshape(-1, order="F")
        made = self._core.make(name, _options._index("block_size", block_size, 1, 12), near)
        return Preconditioner(self, made)

    # ---- Solves --------------------------------------------------------------------------------

    def solve(
        self, b: Any, x0: Any = None, *, method: str = "auto", rtol: float | None = None,
        atol: float = 0.0, maxiter: int | None = None, M: Any = "auto",
        callback: _options.Callback | None = None, callback_type: str | None = None,
        history: bool = False, out: Any = None, raise_on_failure: bool = False,
        transpose: bool = False, verbose: bool | str = False, **options: Unpack[_options.MoreOptions],
    ) -> tuple[Any, Info]:
        """Solves A x = b and returns x and how it went.

        `method` is one of `krylith.solver_names()`, or "auto", which chooses it by what A is, and
        goes on with the next where one fails. M is a name such as "jacobi" or "amg:theta=0.1", an
        object of `preconditioner()`, a LinearOperator or matrix that approximates A^-1, None, or
        "auto". rtol is 1e-8 (fp32: 1e-5) where none is given. b may have several columns.
        With `transpose` A' x = b is solved, by `op.T`, which is kept: names make the preconditioner
        of A', and of a LinearOperator `rmatvec` is used. `verbose` prints how it goes; "tqdm" shows
        a bar.
        """
        began = time.perf_counter()
        if not isinstance(method, str):
            raise TypeError("method must be the name of a solver")
        call = _options.make(rtol, atol, maxiter, history, options)
        kind = _options.callback_type(callback, callback_type, method)
        if verbose:
            callback, kind = _progress.Shown(verbose, callback, kind), "progress"
        m = as_m(M, self, transpose)
        solved = self.T if transpose else self
        if isinstance(x0, str):
            x0 = solved._first_guess(x0, b, M)
        x, info = solved._in_place(b, x0, out, method, call, m, callback, kind, began)
        if info is None:
            x, info = solved._on_host(b, x0, out, method, call, m, callback, kind, began)
        if isinstance(callback, _progress.Shown):
            callback.end(info)
        if raise_on_failure and not info.converged:
            raise NotConverged(x, info)
        return x, info

    def _first_guess(self, name: str, b: Any, M: Any) -> Any:
        """Returns what x0 = "Mb" means for SciPy: M, which approximates the inverse of A, times b."""
        if name != "Mb":
            raise ValueError(f"x0 is {name!r}: allowed are an array, None and 'Mb'")
        if M is None:
            return b
        if isinstance(M, str) and M == "auto":
            raise ValueError("x0='Mb' needs an M that is named: which one is not known yet")
        apply = self.preconditioner(M) if isinstance(M, str) else M if callable(M) else M.__matmul__
        return apply(_arrays.to_host(b, "b"))

    @staticmethod
    def _looks_for_signals() -> bool:
        return threading.current_thread() is threading.main_thread()

    def _in_place(
        self, b: Any, x0: Any, out: Any, method: str, call: core.SolverOptions, m: Any,
        callback: Any, kind: str, began: float,
    ) -> tuple[Any, Info | None]:
        """Solves with b and x where they lie on devices; (None, None) where that can't be. A list
        has one array a device."""
        at_b = self._where(b) if self.shape[0] == self.shape[1] else None
        if at_b is None:
            return None, None
        x = out if out is not None else [_arrays.empty_like(part) for part in (b if isinstance(b, list) else [b])]
        targets = x if isinstance(x, list) else [x]
        copies = 0
        if x0 is not None:
            call.initial_guess = True
            for target, start in zip(targets, x0 if isinstance(x0, list) else [x0], strict=True):
                if target is not start:
                    target[...] = start if _arrays.device_of(start) else _arrays.like(target)(_arrays.to_host(start, "x0"))
                    copies += 1
        at_x = self._where(targets)
        if at_x is None:
            raise TypeError("out must be contiguous, of A's type, and lie where b does")
        result = self._core.solve_on_devices(
            at_b, at_x, method, call, m, callback, kind, self._looks_for_signals())
        result.copies += copies
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
            x[..., ~values.any(axis=0)] = 0  # of b = 0 the answer is known, and its target no residual but 0
            call.initial_guess = bool(x.any())  # a start from 0 needs no product with it
            copies += 1
        outcomes: list[core.Outcome]
        k = shape[1] if len(shape) == 2 else 1
        flat_b, flat_x = values.reshape(-1, order="F"), x.reshape(-1, order="F")
        # The loop for all columns calls nobody: of it verbose shows the end alone.
        silent = callback is None or (isinstance(callback, _progress.Shown) and callback.callback is None)
        if k > 1 and silent and (m is None or isinstance(m, str)) and self._core.in_host_memory and rows == columns:
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
