"""A KSP of PETSc's, for petsc4py, Firedrake, DOLFINx: -ksp_type python -ksp_python_type krylith.petsc.KSP"""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
from petsc4py import PETSc

from ._arrays import Array
from ._info import Info
from ._operator import Operator
from ._preconditioner import Preconditioner
from ._options import MoreOptions

_REASONS = {
    "converged_rtol": "CONVERGED_RTOL",
    "converged_atol": "CONVERGED_ATOL",
    "converged_rtol_normal": "CONVERGED_RTOL_NORMAL_EQUATIONS",
    "happy_breakdown": "CONVERGED_HAPPY_BREAKDOWN",
    "max_iterations": "DIVERGED_MAX_IT",
    "time_limit": "DIVERGED_MAX_IT",
    "diverged": "DIVERGED_DTOL",
    "indefinite_matrix": "DIVERGED_INDEFINITE_MAT",
    "indefinite_preconditioner": "DIVERGED_INDEFINITE_PC",
    "not_a_number": "DIVERGED_NANORINF",
}  # all others: DIVERGED_BREAKDOWN

_NO_TEST = "krylith ends by the KSP's tolerances: another convergence test can't be used"

_SIDES = {PETSc.PC.Side.LEFT: "left", PETSc.PC.Side.RIGHT: "right", PETSc.PC.Side.SYMMETRIC: "split"}

# PETSc multiplies by these, and has no entries of them.
_FUNCTIONS = ("shell", "python", "mffd", "composite", "lrc", "normal", "schurcomplement")


def _devices(text: str) -> int | list[int]:
    numbers = [int(part) for part in text.split(",")]
    return numbers if "," in text else numbers[0]


_OF_OPERATOR: dict[str, Callable[[str], Any]] = {
    "devices": _devices, "threads": int, "backend": str, "kind": str, "format": str, "order": str, "transport": str,
}
_OPTIONS: dict[str, Callable[[str], Any]] = {
    "method": str, "M": str, **_OF_OPERATOR,
    **{name: float for name in MoreOptions.__annotations__ if name != "side"},  # that is the KSP's
}


def _of_all(comm: Any, value: Any) -> list[Any]:
    """Returns the value of each process of a communicator of PETSc's."""
    return [value] if comm.size == 1 else list(comm.tompi4py().allgather(value))


def _block_size(mat: Any) -> int:
    """Returns the rows of a node, where krylith can take so many."""
    size = int(mat.getBlockSize())
    return size if 1 <= size <= 12 else 1


class _Matrix:
    """A Mat, or its transpose, as an Operator, which follows the Mat's values."""

    def __init__(self, options: dict[str, Any], like: Operator | None = None, flipped: bool = False) -> None:
        self._options, self._like, self._flipped = options, like, flipped
        self._mat: Any = None  # kept, lest another Mat gets its address
        self._state = -1
        self._pattern: tuple[Array, ...] = ()
        self.operator: Operator

    def follow(self, mat: Any) -> None:
        """Takes the values of the Mat; where its pattern is another one, all is built anew."""
        if self._mat is not None and self._mat == mat and self._state == mat.stateGet():
            return
        block, several = _block_size(mat), mat.comm.size > 1
        options = dict(self._options, like=self._like, block_size=block)
        if several and self._like is None:
            options["comm"] = mat.comm.tompi4py()
        if mat.getType() in _FUNCTIONS:
            if self._mat is None or self._mat != mat:
                if several:
                    raise ValueError(f"a matrix of type {mat.getType()!r} has no entries, and can't span processes")
                product = _of_arrays(mat.mult, *mat.createVecs())
                self.operator = Operator(product, shape=mat.getSize(), dtype=PETSc.ScalarType, **options)
        else:
            rows = mat if mat.getType().startswith(("seqaij", "mpiaij")) else mat.convert("aij", PETSc.Mat())
            if self._flipped:
                rows = rows.transpose(PETSc.Mat())
            *pattern, values = rows.getValuesCSR()  # those of this process
            key = (*pattern, np.array([*rows.getSize(), block]))
            same = len(key) == len(self._pattern) and all(map(np.array_equal, key, self._pattern))
            if all(_of_all(mat.comm, same)):
                self.operator.update(values)
            else:
                shape = rows.getLocalSize()[0], rows.getSize()[1]
                if several and not np.array_equal(rows.getOwnershipRanges(), rows.getOwnershipRangesColumn()):
                    raise ValueError("the matrix has other columns than rows in a process: krylith needs the same")
                self.operator = Operator((values, *pattern[::-1]), shape=shape, **options)
                self._pattern = key
        self._mat, self._state = mat, mat.stateGet()


class KSP:
    """The context of a KSP of type "python", which solves by krylith.

    Its options are those of the database, -krylith_method, -krylith_M, -krylith_devices and others
    with the KSP's prefix, or arguments: `ksp.setPythonContext(krylith.petsc.KSP(method="cg"))`.
    Tolerances, the side of M, an initial guess and monitors are those of the KSP. A PC of a type
    other than "none" is M, unless M is named.
    """

    def __init__(self, **options: Any) -> None:
        self.options = options
        self.info: Info | None = None  #: of the last solve
        for name in options:
            self._known(name)
        self._forget()

    def _forget(self) -> None:
        self._a: _Matrix | None = None
        self._p: dict[bool, _Matrix] = {}
        self._made: dict[bool, tuple[Preconditioner, Any]] = {}  # with the near-null space

    @staticmethod
    def _known(name: str) -> Callable[[str], Any]:
        if name not in _OPTIONS:
            raise ValueError(f"unknown option krylith_{name}: allowed are {', '.join(sorted(_OPTIONS))}")
        return _OPTIONS[name]

    @property
    def operator(self) -> Operator | None:
        """The operator of the KSP's matrix, once it is set up."""
        return self._a.operator if self._a is not None else None

    # ---- What PETSc calls ----------------------------------------------------------------------

    def create(self, ksp: Any) -> None:
        """Sets what -ksp_view then shows. A PC that has no type so far would become ILU."""
        database = PETSc.Options(ksp.getOptionsPrefix())
        if not database.hasName("ksp_norm_type"):
            ksp.setNormType(PETSc.KSP.NormType.UNPRECONDITIONED)
        if not database.hasName("ksp_pc_side"):
            ksp.setPCSide(PETSc.PC.Side.RIGHT)
        if ksp.getPC().getType() is None:
            ksp.getPC().setType("none")

    def setFromOptions(self, ksp: Any) -> None:
        prefix = ksp.getOptionsPrefix() or ""
        database, found = PETSc.Options(prefix), {}
        if database.getString("ksp_convergence_test", "default") != "default":
            raise ValueError(_NO_TEST)
        for key in database.getAll():
            if key.startswith("krylith_"):
                name, text = key[len("krylith_") :], database.getString(key)
                convert = self._known(name)
                try:
                    found[name] = convert(text)
                except ValueError:
                    raise ValueError(f"-{prefix}{key} is {text!r}: a number is needed") from None
        if any(self.options.get(name) != value for name, value in found.items()):
            self.options = {**self.options, **found}
            self._forget()

    def setUp(self, ksp: Any) -> None:
        if ksp.getNormType() != PETSc.KSP.NormType.UNPRECONDITIONED:
            raise ValueError("krylith ends by the norm of b - A x: allowed is -ksp_norm_type unpreconditioned")
        if ksp.getConvergenceTest() is not None:
            raise ValueError(_NO_TEST)
        if ksp.getInitialGuessKnoll():
            raise ValueError("krylith starts from x or from 0: Knoll's initial guess can't be used")
        before = self.operator
        matrix = self._a or _Matrix({name: value for name, value in self.options.items() if name in _OF_OPERATOR})
        matrix.follow(ksp.getOperators()[0])
        self._a = matrix
        if self.operator is not before:
            self._p, self._made = {}, {}

    def solve(self, ksp: Any, b: Any, x: Any) -> None:
        self._solve(ksp, b, x, transposed=False)

    def solveTranspose(self, ksp: Any, b: Any, x: Any) -> None:
        self._solve(ksp, b, x, transposed=True)

    def view(self, ksp: Any, viewer: Any) -> None:
        if viewer.getType() != PETSc.Viewer.Type.ASCII:
            return
        for name, value in self.options.items():
            viewer.printfASCII(f"krylith_{name}: {value}\n")
        if self.operator is not None:
            explained = self.operator.explain()
            viewer.printfASCII(f"devices: {'; '.join(explained['devices'])}\n")
            viewer.printfASCII(f"operator: {explained['operator']}, format {explained['format']}\n")
        if self.info is not None:
            viewer.printfASCII(f"last solve: {self.info.solver}, preconditioner {self.info.preconditioner}\n")
            if self.info.diagnosis:
                viewer.printfASCII(f"{self.info.diagnosis}\n")

    def reset(self, ksp: Any) -> None:
        self._forget()

    # --------------------------------------------------------------------------------------------

    def _solve(self, ksp: Any, b: Any, x: Any, transposed: bool) -> None:
        self.setUp(ksp)  # PETSc does it once, and then the matrix may have changed
        assert self._a is not None
        operator = self._a.operator.T if transposed else self._a.operator
        more = {name: value for name, value in self.options.items() if name in MoreOptions.__annotations__}

        def watch(iteration: int, residual: float, target: float, rhs_norm: float) -> None:
            ksp.setIterationNumber(iteration)
            ksp.setResidualNorm(residual)
            ksp.logConvergenceHistory(residual)
            ksp.monitor(iteration, residual)

        values, solution = b.getArray(readonly=True), x.getArray()
        start = solution if ksp.getInitialGuessNonzero() else None
        own = float(np.linalg.norm(values if start is None else values - operator @ start))
        watch(0, float(np.linalg.norm(_of_all(b.comm, own))), 0, 0)
        # Monitors may communicate, and processes are not told of iterations at the same times: afterwards.
        later = b.comm.size > 1
        rtol, atol, divtol, most = ksp.getTolerances()
        _, self.info = operator.solve(
            values, start, out=solution, method=self.options.get("method", "auto"),
            M=self._m(ksp, operator, transposed), side=_SIDES[ksp.getPCSide()],
            rtol=rtol, atol=atol, divergence_tolerance=divtol, maxiter=most,
            callback=None if later else watch, callback_type="progress", history=later, **more,
        )
        for iteration, residual in enumerate(self.info.history[1:] if later else (), 1):
            watch(iteration, float(residual), 0, 0)
        del values, solution, start  # the Vecs have them again
        a = ksp.getOperators()[0]
        null = a.getTransposeNullSpace() if transposed else a.getNullSpace()
        if null:
            null.remove(x)
        ksp.setIterationNumber(self.info.iterations)
        ksp.setResidualNorm(self.info.true_residual)
        reason = _REASONS.get(self.info.reason, "DIVERGED_BREAKDOWN")
        ksp.setConvergedReason(getattr(PETSc.KSP.ConvergedReason, reason))

    def _m(self, ksp: Any, operator: Operator, transposed: bool) -> Any:
        """Returns M as krylith takes it: the PC, or the name of one; or one that is made here, of the
        second matrix or with a near-null space, which solves know nothing of."""
        pc, name = ksp.getPC(), self.options.get("M")
        a, p = ksp.getOperators()
        if name is None and pc.getType() != "none":
            return _of_arrays(pc.applyTranspose if transposed else pc.apply, *p.createVecs())
        near = p.getNearNullSpace()
        takes_near = bool(near) and (name or "amg").partition(":")[0] == "amg"
        if p == a and not takes_near:
            return name or "auto"
        if p != a:
            second = self._p.setdefault(transposed, _Matrix({}, operator, transposed))
            second.follow(p)
            operator = second.operator
        made, made_with = self._made.get(transposed, (None, None))
        if made is None or made.operator is not operator or made_with != near:
            vectors = _vectors(near, operator.local_shape[0]) if takes_near else None
            made = operator.preconditioner(name or "amg", B=vectors, block_size=_block_size(p))
            self._made[transposed] = made, near
        return made


def _vectors(null: Any, rows: int) -> Array:
    """Returns the vectors of a NullSpace as columns."""
    constant = [np.ones(rows)] if null.hasConstant() else []
    return np.stack([*constant, *(v.getArray(readonly=True) for v in null.getVecs())], axis=1)


def _of_arrays(apply: Callable[[Any, Any], object], right: Any, left: Any) -> Callable[[Array], Array]:
    """Returns the function of arrays of NumPy's for one of Vecs, given two that fit."""

    def call(values: Array) -> Array:
        right.setArray(values)
        apply(right, left)
        return left.getArray(readonly=True)  # type: ignore[no-any-return]

    return call
