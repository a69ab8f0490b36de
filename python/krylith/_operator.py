"""Operators: a matrix on devices, with what its solves keep."""

from __future__ import annotations

import threading
import time
import weakref
from typing import TYPE_CHECKING, Any, Callable, Union

import numpy as np
import numpy.typing as npt

from . import _arrays, _devices, _options, _processes, _progress
from . import _krylith as core
from ._captured import of_cupy
from ._errors import NotConverged
from ._info import Info, table
from ._matrices import Compressed, Coordinates, File, Function, Parts, Source, own_rows, source_of
from ._preconditioner import Preconditioner, as_m, kind_of_m

if TYPE_CHECKING:
    from typing_extensions import Unpack

Core = Union[core.Operator64, core.Operator32]


class Operator:
    """A sparse matrix on one or several devices, built once for many products and solves.

    A is a sparse matrix or array of SciPy (CuPy and torch), (data, indices, indptr), the name of a
    file or "gallery:NAME", a LinearOperator, or a function with `shape`. `devices` is how many, or
    the numbers of GPUs; `backend` "host" or "cuda". Values of A in host memory are referred to, not
    copied, where they are by rows: change them by `update`.

    With `comm`, a communicator of mpi4py, its processes solve together: each gives its own rows, with
    columns of the whole matrix, behind those of the process before it, and has its own entries of all
    vectors. Values are copied then. Processes call the same methods in the same order, wait up to
    `timeout` seconds for each other, and what one raises all raise. `devices` are those of each.
    """

    _parts: list[Any] | None = None  # values of A on devices
    _nnz_given: int
    _cuts: list[int] | None = None  # of several processes: where the own rows of each device begin

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
        comm: Any = None,
        timeout: float = 600,
    ) -> None:
        if like is not None and not isinstance(like, Operator):
            raise TypeError("like must be an Operator")
        shared = None if like is None else like._group
        link = _processes.link_of(comm, shared, timeout)
        with _processes.agreed(link or shared) as alike:
            alike.update(kind=kind, format=format, order=order, transport=transport, block_size=block_size)
            source = source_of(A, dtype, shape)
            if on_device and not isinstance(source, Function):
                raise TypeError("on_device is for functions: A is a matrix")
            if isinstance(source, Parts) and devices is None and backend is None:
                devices, backend = source.place()
            among = link or shared
            if among is not None and among.processes > 1 and isinstance(A, tuple) and shape is None:
                raise TypeError("(data, indices, indptr) of several processes needs shape=(own rows, all columns)")
            key = _devices.key_of(devices, backend, threads, link)
            size = _options._index("block_size", block_size, 1, 12)
            options = core.OperatorOptions(kind=kind, format=format, order=order, transport=transport, block_size=size)
        group = shared or _devices.joined(key, link)
        self._build(source, group, options, dtype=dtype, like=like, on_device=on_device, block_size=size)

    def _build(
        self, source: Source, group: core.Group, options: core.OperatorOptions, *,
        dtype: npt.DTypeLike | None = None, lend: bool = False, like: Operator | None = None,
        on_device: bool = False, block_size: int = 1,
    ) -> None:
        self._group = group
        self._flipped: Operator | None = None
        self._flips: weakref.ref[Operator] | None = None  # the operator whose T this is
        with _processes.agreed(group) as alike:
            if group.processes > 1:
                source = own_rows(source, group.size, block_size, None if like is None else like._cuts)
                self._cuts = source.cuts()
            if isinstance(source, Parts):
                self._check_parts(source, group)
            self._function = source if isinstance(source, Function) else None
            self.dtype = alike["the type of A's values"] = self._kind_of(source, dtype)
            if like is not None and like.dtype != self.dtype:
                raise ValueError(f"A is {self.dtype}, but the operator that it is to be like is {like.dtype}")
        with _processes.agreed(group):
            self._core = self._made(source, group, options, lend, like, on_device)
        self.ndim = 2
        self._take_shapes()
        if isinstance(source, File):
            self._nnz_given = self._core.nnz

    def _take_shapes(self) -> None:
        self.shape: tuple[int, int] = self._core.shape
        self.local_shape: tuple[int, int] = self._core.local_shape  #: this process' entries of A x, and of x

    def _kind_of(self, source: Source, dtype: npt.DTypeLike | None) -> np.dtype[Any]:
        self._nnz_given = 0
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
        return kind

    def _made(
        self, source: Source, group: core.Group, options: core.OperatorOptions, lend: bool,
        like: Operator | None, on_device: bool,
    ) -> Core:
        near = None if like is None else like._core
        made: Any = core.Operator64 if self.dtype == np.float64 else core.Operator32
        if isinstance(source, Compressed):
            return made.from_csr(group, source.shape, source.indptr, source.indices, source.data, lend, options, near)  # type: ignore[no-any-return]
        if isinstance(source, Coordinates):
            return made.from_coo(group, source.shape, source.row, source.col, source.data, options, near)  # type: ignore[no-any-return]
        if isinstance(source, File):
            return made.from_file(group, source.name, options, near)  # type: ignore[no-any-return]
        if isinstance(source, Function):
            return self._of_function(made, source, group, on_device)
        return made.from_devices(group, source.addresses(), source.shape[1], source.arrays, options, near)  # type: ignore[no-any-return]

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
    def _check_parts(source: Parts, group: core.Group) -> None:
        on_host = source.devices is None
        copied = on_host and group.processes > 1  # they may lie anywhere
        if group.size != len(source.arrays) or ((group.backend == "host") != on_host and not copied):
            raise ValueError(
                f"A has {len(source.arrays)} parts in the memory of {'the host' if on_host else 'GPUs'}: "
                "its devices are as many there. Give a matrix in host memory for others"
            )

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
        rows, columns = self.local_shape
        with _processes.agreed(self._group) as alike:
            at_x = self._where(x) if rows == columns else None
            alike["whether x is used on the device"] = at_x is not None
            values = np.empty(0) if at_x is not None else self._vector(x, "x", columns)[0]
        if at_x is not None:
            result = [_arrays.empty_like(part) for part in (x if isinstance(x, list) else [x])]
            self._core.multiply_on_devices(at_x, self._where(result) or [])
            return result if isinstance(x, list) else result[0]
        y = np.empty(rows, self.dtype)
        self._core.multiply(values, y)
        return _arrays.like(x)(y.reshape((-1, 1)) if getattr(x, "ndim", 1) == 2 else y)

    def rmatvec(self, x: Any) -> Any:
        """Returns A' x. The first call builds the operator of A'."""
        return self.T.matvec(x)

    def matmat(self, X: Any) -> Any:
        """Returns A X for an X of several columns."""
        rows, columns = self.local_shape
        with _processes.agreed(self._group) as alike:
            host = _arrays.to_host(X, "X")
            if host.ndim != 2 or host.shape[0] != columns:
                raise ValueError(f"X has the shape {host.shape}: ({columns}, k) is needed")
            alike["the number of columns of X"] = host.shape[1]
        result = np.empty((rows, host.shape[1]), self.dtype, order="F")
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
            flipped.dtype, flipped._group, flipped.ndim, flipped._cuts = self.dtype, self._group, 2, self._cuts
            f = self._function
            if f is not None and f.rmatvec is not None:
                flipped._function = Function(f.shape[::-1], f.rmatvec, f.dtype, f.matvec)
                flipped._core = flipped._of_function(type(self._core), flipped._function, self._group, False)
            else:
                flipped._function = None
                flipped._core = self._core.transposed()
            flipped._take_shapes()
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
        with _processes.agreed(self._group):
            new, places = self._new_values(values)
        with _processes.agreed(self._group):
            if places is None:
                self._core.update(new)
            else:
                self._core.update_on_devices(places, new)
                self._parts = new
            if self._flipped is not None:
                self._core.update_transposed(self._flipped._core)  # type: ignore[arg-type]

    def _new_values(self, values: Any) -> tuple[Any, list[tuple[int, int]] | None]:
        """Returns them as the module takes them, and where those of parts lie."""
        if self._flips is not None and self._flips() is not None:
            raise ValueError("this operator is the T of another one: update that")
        parts = values if self._parts and isinstance(values, list) else [values]
        if any(hasattr(part, "tocsr") or str(getattr(part, "layout", "")).startswith("torch.sparse") for part in parts):
            raise TypeError("values are a sparse matrix, whose pattern may be another one: give its values, such as A.data")
        if self._parts is None:
            data = _arrays.to_host(parts[0], "values")
            if data.ndim != 1 or data.size != self._nnz_given:
                raise ValueError(f"values have the shape {data.shape}: ({self._nnz_given},) is needed, in the order of A's "
                                 "(of A.tocsr() for formats other than csr, csc and coo)")
            return _arrays.usable(data, self.dtype), None
        old = self._parts
        if len(parts) == 1 < len(old) and self._group.processes > 1:  # rows that were cut for the devices
            parts = np.split(_arrays.to_host(values, "values"), np.cumsum([len(was) for was in old[:-1]]))
        if len(parts) != len(old):
            raise ValueError(f"values have {len(parts)} parts: {len(old)} are needed, one a device")
        new = [
            _arrays.like(was)(_arrays.usable(_arrays.to_host(v, "values"), self.dtype))
            if _arrays.device_of(v) is None or _arrays.dtype_of(v) != self.dtype else v
            for v, was in zip(parts, old)
        ]
        on_host = all(_arrays.device_of(v) is None for v in new)
        places = [(_arrays.address_of(v), v.size) for v in new] if on_host else self._where(new)
        if places is None:
            raise ValueError("values on devices must be contiguous, of A's type, and where A is")
        return new, places

    def preconditioner(self, name: str = "amg", *, B: Any = None, block_size: int = 1) -> Preconditioner:
        """Returns the preconditioner of that name, such as "amg:theta=0.1". B, of shape (n, k), has
        vectors that A maps to nearly 0; `block_size` rows are those of a node."""
        rows, near = self.local_shape[0], np.empty(0)
        with _processes.agreed(self._group) as alike:
            if not isinstance(name, str):
                raise TypeError("the name of a preconditioner must be a text")
            size = _options._index("block_size", block_size, 1, 12)
            alike.update({"the name of the preconditioner": name, "block_size": size})
            if B is not None:
                host = _arrays.to_host(B, "B")
                if host.ndim not in (1, 2) or host.shape[0] != rows or (host.ndim == 2 and not 1 <= host.shape[1] <= 12):
                    raise ValueError(f"B has the shape {host.shape}: ({rows}, k) is needed, k from 1 to 12")
                host = _arrays.usable(host if host.ndim == 2 else host[:, None], np.dtype(np.float64))
            alike["the number of columns of B"] = 0 if B is None else host.shape[1]
        if B is not None:  # the module takes all entries
            of_all = _processes.exchange(self._group, host)
            near = (host if len(of_all) == 1 else np.concatenate(of_all)).reshape(-1, order="F")
        with _processes.agreed(self._group):
            made = self._core.make(name, size, near)
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
        with _processes.agreed(self._group) as alike:
            if not isinstance(method, str):
                raise TypeError("method must be the name of a solver")
            call = _options.make(rtol, atol, maxiter, history, options)
            kind = _options.callback_type(callback, callback_type, method)
            if verbose and self._group.is_first:
                callback, kind = _progress.Shown(verbose, callback, kind), "progress"
            alike.update({"method": method, "transpose": bool(transpose), "M": kind_of_m(M, self),
                          "x0": x0 if x0 is None or isinstance(x0, str) else "an array"})
        # All processes are at one call from here on: what follows communicates.
        with _processes.agreed(self._group) as alike:
            m = as_m(M, self, transpose)
            solved = self.T if transpose else self
            if isinstance(x0, str):
                x0 = solved._first_guess(x0, b, M)
            in_place = solved._where(b) if solved.local_shape[0] == solved.local_shape[1] else None
            alike["whether b is used on the device"] = in_place is not None
        if in_place is not None:
            x, info = solved._in_place(b, in_place, x0, out, method, call, m, callback, kind, began)
        else:
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
        self, b: Any, at_b: list[tuple[int, int]], x0: Any, out: Any, method: str, call: core.SolverOptions, m: Any,
        callback: Any, kind: str, began: float,
    ) -> tuple[Any, Info]:
        """Solves with b and x where they lie on devices. A list has one array a device."""
        with _processes.agreed(self._group):
            targets, at_x, copies = self._targets_in_place(b, x0, out, call)
        with _processes.agreed(self._group):
            result = self._core.solve_on_devices(
                at_b, at_x, method, call, m, callback, kind, self._looks_for_signals())
        result.copies += copies
        return (targets if isinstance(b, list) else targets[0]), Info(result, time.perf_counter() - began)

    def _targets_in_place(
        self, b: Any, x0: Any, out: Any, call: core.SolverOptions,
    ) -> tuple[list[Any], list[tuple[int, int]], int]:
        """Returns x on the devices, with the start, where it lies, and how often that was copied."""
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
        return targets, at_x, copies

    def _on_host(
        self, b: Any, x0: Any, out: Any, method: str, call: core.SolverOptions, m: Any,
        callback: Any, kind: str, began: float,
    ) -> tuple[Any, Info]:
        rows, columns = self.local_shape
        with _processes.agreed(self._group) as alike:
            host_b = _arrays.to_host(b, "b")
            if host_b.ndim not in (1, 2) or host_b.shape[0] != rows or (host_b.ndim == 2 and host_b.shape[1] == 0):
                raise ValueError(f"b has the shape {host_b.shape}: ({rows},) or ({rows}, k) is needed")
            values = _arrays.usable(host_b, self.dtype)
            copies = int(values is not host_b) + int(_arrays.device_of(b) is not None)
            shape = (columns, *host_b.shape[1:])
            alike["the number of columns of b"] = shape[1:]
            x = self._target(out, shape)
            if x0 is not None:
                start = _arrays.to_host(x0, "x0")
                if start.size != x.size or start.shape not in (shape, (columns,), (columns, 1)):
                    raise ValueError(f"x0 has the shape {start.shape}: {shape} is needed")
                x[...] = start.reshape(shape)
                copies += 1
        if x0 is not None:
            x[..., ~self._anywhere(values.any(axis=0))] = 0  # of b = 0 the answer is known, and its target no residual but 0
            call.initial_guess = bool(self._anywhere(x.any()))  # a start from 0 needs no product with it
        outcomes: list[core.Outcome]
        k = shape[1] if len(shape) == 2 else 1
        flat_b, flat_x = values.reshape(-1, order="F"), x.reshape(-1, order="F")
        # The loop for all columns calls nobody: of it verbose shows the end alone.
        silent = callback is None or (isinstance(callback, _progress.Shown) and callback.callback is None)
        with _processes.agreed(self._group):
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

    def _anywhere(self, flags: Any) -> Any:
        """Returns which flags any process has set."""
        return np.any(_processes.exchange(self._group, flags), axis=0)

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
