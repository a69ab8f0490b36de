"""What a matrix may be given as, brought into the few forms that the module takes."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Union

import numpy as np
import numpy.typing as npt

from ._arrays import Array, address_of, check_kind, device_of, dtype_of, library_of, wait_for
from ._errors import InputError


@dataclass
class Compressed:
    """Compressed rows in host memory."""

    shape: tuple[int, int]
    indptr: Array
    indices: Array
    data: Array


@dataclass
class Coordinates:
    """Entries in any order; those of one place add up."""

    shape: tuple[int, int]
    row: Array
    col: Array
    data: Array


@dataclass
class File:
    """A file, or a generated matrix, gallery:NAME."""

    name: str


@dataclass
class Function:
    """A product function of arrays of NumPy's, and that of the transposed matrix, or None."""

    shape: tuple[int, int]
    matvec: Any
    dtype: np.dtype[Any] = np.dtype(np.float64)
    rmatvec: Any = None


@dataclass
class Parts:
    """Compressed rows where the devices have them: part k has those that device k owns, with
    columns of the whole matrix."""

    shape: tuple[int, int]
    arrays: list[tuple[Any, Any, Any]]  # indptr, indices, data
    devices: list[int] | None  # numbers of GPUs; None: host memory

    def place(self) -> tuple[Any, str]:
        """Returns devices and back end that have the parts."""
        return (len(self.arrays), "host") if self.devices is None else (self.devices, "cuda")

    def cuts(self) -> list[int]:
        """Returns where the rows of each part begin, and their number."""
        return [0, *(int(cut) for cut in np.cumsum([len(indptr) - 1 for indptr, _, _ in self.arrays]))]

    def addresses(self) -> list[tuple[int, tuple[int, bool], tuple[int, bool], int, int]]:
        """Returns what the module takes of each part, after waiting for its library."""
        result = []
        for indptr, indices, data in self.arrays:
            wait_for(data)
            at = [(address_of(a), "int64" in str(a.dtype)) for a in (indptr, indices)]
            result.append((len(indptr) - 1, at[0], at[1], address_of(data), len(data)))
        return result


Source = Union[Compressed, Coordinates, File, Function, Parts]


def as_shape(shape: Any) -> tuple[int, int]:
    try:
        rows, columns = (int(n) for n in shape)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"shape is {shape!r}: expected 2-D") from None
    if not (0 <= rows < 2**31 and 0 <= columns < 2**31):
        raise ValueError(f"shape is {shape!r}: allowed are 0 to 2^31 - 1 rows and columns")
    return rows, columns


def _precision(kind: np.dtype[Any]) -> np.dtype[Any]:
    return np.dtype(np.float32 if kind in (np.float32, np.float16) else np.float64)


def _values(data: Any, dtype: np.dtype[Any] | None) -> Array:
    data = np.asarray(data)
    check_kind(data.dtype, "A")
    return np.require(data, dtype=dtype or _precision(data.dtype), requirements=["C", "A"])


def _check_lengths(data: Any, *indices: Any) -> None:
    """Looks at the shapes before anything is copied."""
    data = np.asarray(data)
    if data.ndim != 1:
        raise InputError(f"data has {data.ndim} dimensions: one is needed")
    for of in indices:
        if np.asarray(of).size != data.size:
            raise InputError(f"{np.asarray(of).size} indices and {data.size} values: as many of each are needed")


def _check_majors(indptr: Any, majors: int | None) -> None:
    """The same for indptr, of so many rows or columns; None: of as many as it says."""
    size = np.asarray(indptr).size
    if size == 0:
        raise InputError("indptr is empty: it needs rows + 1 entries")
    if majors is not None and size != majors + 1:
        raise InputError(f"indptr has {size} entries: {majors + 1} are needed")
    if size > 2**31:
        raise InputError(f"indptr has {size} entries: allowed are up to 2^31")


def _indices(*arrays: Any) -> list[Array]:
    """Returns index arrays of one type, int32 or int64, as they are where they can be."""
    found = [np.asarray(a) for a in arrays]
    for a in found:
        if a.ndim != 1 or (a.dtype.kind not in "iu" and a.size > 0):
            raise InputError(f"indices are {a.ndim}-dimensional of {a.dtype}: whole numbers in one dimension are needed")
    narrow = all(a.dtype == np.int32 for a in found)
    kind = np.int32 if narrow else np.int64
    return [np.require(a, dtype=kind, requirements=["C", "A"]) for a in found]


def _compressed(data: Any, indices: Any, indptr: Any, shape: Any, dtype: Any) -> Compressed:
    _check_lengths(data, indices)
    _check_majors(indptr, None if shape is None else as_shape(shape)[0])
    indices, indptr = _indices(indices, indptr)
    values = _values(data, dtype)
    if shape is None:
        columns = int(indices.max()) + 1 if indices.size else 0
        shape = (indptr.size - 1, max(columns, indptr.size - 1))
    return Compressed(as_shape(shape), indptr, indices, values)


def _coordinates(data: Any, row: Any, col: Any, shape: Any, dtype: Any) -> Coordinates:
    _check_lengths(data, row, col)
    row, col = _indices(row, col)
    values = _values(data, dtype)
    if row.size and (row.min() < 0 or col.min() < 0):
        raise InputError("an index is negative")
    return Coordinates(as_shape(shape), row, col, values)


def _sparse(a: Any, dtype: Any) -> Source:
    """Of a sparse matrix or array of SciPy's, or what looks like one."""
    if len(a.shape) != 2:
        raise ValueError(f"A has {len(a.shape)} dimensions: two are needed")
    kind = a.format
    if kind not in ("csr", "csc", "coo"):
        a, kind = a.tocsr(), "csr"
    if device_of(a.data) is not None:
        return _parts([a.tocsr()])
    if kind == "csr":
        return _compressed(a.data, a.indices, a.indptr, a.shape, dtype)
    if kind == "coo":
        return _coordinates(a.data, a.row, a.col, a.shape, dtype)
    _check_lengths(a.data, a.indices)
    _check_majors(a.indptr, as_shape(a.shape)[1])
    indices, indptr = _indices(a.indices, a.indptr)
    values, lengths = _values(a.data, dtype), np.diff(indptr)
    if indptr[0] != 0 or (lengths < 0).any() or indptr[-1] > indices.size:
        raise InputError("CSC arrays: indptr doesn't fit shape and indices")
    columns = np.repeat(np.arange(lengths.size, dtype=indices.dtype), lengths)
    return _coordinates(values[: columns.size], indices[: columns.size], columns, a.shape, dtype)


def _torch_csr(a: Any, dtype: Any) -> Source:
    if str(a.layout) == "torch.sparse_coo":
        a = a.to_sparse_csr()
    if a.is_cuda:
        return _parts([a])
    indptr, indices, values = (p.detach().numpy() for p in (a.crow_indices(), a.col_indices(), a.values()))
    return _compressed(values, indices, indptr, a.shape, dtype)


def _rows(part: Any) -> tuple[Any, Any, Any]:
    """Returns the arrays of compressed rows of CuPy, torch or SciPy, columns in 32 bits: contiguous,
    of types that the module reads, and as long as it believes."""
    if library_of(part) == "torch":
        arrays = part.crow_indices(), part.col_indices(), part.values().detach()
    else:
        arrays = part.indptr, part.indices, part.data
    rows, columns = as_shape(part.shape)
    indptr: Any
    indices: Any
    if device_of(arrays[2]) is None:
        source = _compressed(arrays[2], arrays[1], arrays[0], part.shape, None)
        indptr, indices, data = source.indptr, source.indices, source.data
    else:
        indptr, indices, data = (a.contiguous() if library_of(a) == "torch" else a.ravel() for a in arrays)
        if any(str(dtype_of(a)) not in ("int32", "int64") or a.ndim != 1 for a in (indptr, indices)):
            raise InputError("indices of a part must be one-dimensional, of 32 or 64 bits")
    if len(indptr) != rows + 1 or int(indptr[0]) != 0 or int(indptr[-1]) != len(data) or len(indices) != len(data):
        raise InputError(f"a part of {rows} rows has {len(indptr)} entries in indptr, {len(indices)} indices and "
                         f"{len(data)} values: indptr must have rows + 1, and go from 0 to the number of both")
    if dtype_of(indices) != np.int32:
        if len(indices) and not (0 <= int(indices.min()) and int(indices.max()) < columns):
            raise InputError(f"an index of a part is outside of 0 to {columns - 1}")
        indices = indices.int() if library_of(indices) == "torch" else indices.astype(np.int32)
    return indptr, indices, data


def _parts(rows: list[Any]) -> Parts:
    """Of compressed rows that lie on devices, one matrix a device."""
    shapes = [as_shape(part.shape) for part in rows]
    columns = shapes[0][1]
    if any(shape[1] != columns for shape in shapes):
        raise ValueError("the parts of A have different numbers of columns: each has those of the whole matrix")
    arrays = [_rows(part) for part in rows]
    where = [device_of(data) for _, _, data in arrays]
    if len({dtype_of(data) for _, _, data in arrays}) != 1 or len({w is None for w in where}) != 1:
        raise TypeError("the parts of A must have values of one type, all on GPUs or all in host memory")
    devices = None if where[0] is None else [w[1] for w in where if w is not None]
    return Parts((sum(shape[0] for shape in shapes), columns), arrays, devices)


def own_rows(source: Source, devices: int, block_size: int = 1, like: list[int] | None = None) -> Parts:
    """Returns the rows that one of several processes has as parts of its devices. They are cut as
    those of another operator, `like`, or between blocks of rows."""
    if isinstance(source, Parts):
        return source
    if not isinstance(source, Compressed):
        what = {File: "a file", Function: "a function"}.get(type(source), "not by rows (csr)")
        raise TypeError(f"A is {what}, which can't span processes: each gives its own rows as a csr_array, or (data, "
                        "indices, indptr), with columns of the whole matrix")
    indptr, nonzeros = source.indptr, source.data.size
    if indptr[0] != 0 or indptr[-1] != nonzeros or (indptr[1:] < indptr[:-1]).any():
        raise InputError(f"indptr must rise from 0 to the number of values, {nonzeros}")
    inner = np.searchsorted(indptr, np.arange(1, devices) * (nonzeros / devices))
    cuts = [0, *(int(cut) // block_size * block_size for cut in inner), indptr.size - 1]
    if like is not None and like[-1] == cuts[-1]:
        cuts = like
    arrays = [
        (indptr[a : b + 1], source.indices[indptr[a] : indptr[b]], source.data[indptr[a] : indptr[b]])
        for a, b in zip(cuts, cuts[1:])
    ]
    return Parts(source.shape, arrays, None)


def _by_rows(a: Any) -> bool:
    return getattr(a, "format", "") == "csr" or str(getattr(a, "layout", "")) == "torch.sparse_csr"


def source_of(a: Any, dtype: npt.DTypeLike | None = None, shape: Any = None) -> Source:
    """Tells what A is. Raises TypeError for what it can't be, and InputError for arrays that
    don't fit together."""
    if isinstance(a, (Compressed, Coordinates, Parts)):
        return a
    wanted = None if dtype is None else np.dtype(dtype)
    if wanted is not None:
        check_kind(wanted, "dtype")
        if wanted not in (np.float64, np.float32):
            raise TypeError(f"dtype is {wanted}: allowed are float64 and float32")
    if isinstance(a, (str, os.PathLike)):
        name = os.fspath(a)
        if not isinstance(name, str) or name in ("", "-") or "\0" in name:
            raise ValueError(f"{name!r} is no name of a file, nor gallery:NAME")
        return File(name)
    if isinstance(a, tuple):
        if len(a) == 3:
            return _compressed(*a, shape, wanted)
        raise TypeError("a tuple must be (data, indices, indptr), as SciPy has them")
    if isinstance(a, list) and a and all(hasattr(part, "shape") and _by_rows(part) for part in a):
        return _parts(a)
    if library_of(a) == "torch" and str(getattr(a, "layout", "")).startswith("torch.sparse"):
        return _torch_csr(a, wanted)
    if isinstance(getattr(a, "format", None), str) and hasattr(a, "tocsr") and hasattr(a, "shape"):
        return _sparse(a, wanted)
    if hasattr(a, "matvec") and hasattr(a, "shape"):
        kind = np.dtype(getattr(a, "dtype", None) or np.float64)
        check_kind(kind, "A")
        return Function(as_shape(a.shape), a.matvec, _precision(kind), getattr(a, "rmatvec", None))
    if isinstance(a, np.ndarray) or (isinstance(a, list) and shape is None):
        dense = np.asarray(a)
        if dense.ndim != 2:
            raise ValueError(f"A has {dense.ndim} dimensions: two are needed")
        values = _values(dense, wanted)
        row, col = np.nonzero(values)
        return _coordinates(values[row, col], row, col, dense.shape, wanted)
    if callable(a):
        if shape is None:
            raise TypeError("an operator of a function needs shape=(rows, columns)")
        return Function(as_shape(shape), a)
    raise TypeError(
        f"A is {type(a).__name__}: allowed are sparse matrices of SciPy, CuPy and torch, arrays of two "
        "dimensions, (data, indices, indptr), the name of a file, and LinearOperators"
    )


def real_form(a: Any) -> Any:
    """Returns the real system that is equivalent to a complex one: [[Re A, -Im A], [Im A, Re A]]
    for a matrix (of two dimensions, or sparse; it needs SciPy), and [Re b, Im b] for a vector."""
    if getattr(a, "ndim", None) == 1 or (not hasattr(a, "shape") and np.ndim(a) == 1):
        b = np.asarray(a)
        return np.concatenate([b.real, b.imag])
    from scipy import sparse

    matrix = a if sparse.issparse(a) else sparse.csr_array(np.asarray(a))
    re, im = matrix.real, matrix.imag
    return sparse.csr_array(sparse.bmat([[re, -im], [im, re]], format="csr"))


def complex_form(x: Array) -> Array:
    """Returns the complex vector of which `x` is the real form."""
    x = np.asarray(x)
    if x.ndim != 1 or x.size % 2:
        raise ValueError(f"x has the shape {x.shape}: a vector of an even length is needed")
    half = x.size // 2
    return np.asarray(x[:half] + 1j * x[half:])
