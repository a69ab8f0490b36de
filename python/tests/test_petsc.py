"""krylith.petsc.KSP inside PETSc's KSP."""

from __future__ import annotations

import contextlib
import pathlib
import re

import numpy as np
import pytest
import scipy.sparse as sp

import krylith

from conftest import laplacian, unsymmetric

with contextlib.suppress(ImportError):
    import dolfinx_solver  # noqa: F401 - wheels that have it find MPI by it

PETSc = pytest.importorskip("petsc4py.PETSc", reason="petsc4py is not installed", exc_type=ImportError)
reasons = PETSc.KSP.ConvergedReason


def mat(A, kind="aij", block_size=1):
    A = sp.csr_array(A)
    csr = (A.indptr.astype(np.int32), A.indices.astype(np.int32), A.data)
    made = PETSc.Mat().createAIJ(A.shape, csr=csr, bsize=block_size, comm=PETSc.COMM_SELF)
    if kind == "sbaij":
        made.setOption(PETSc.Mat.Option.SYMMETRIC, True)
    return made.convert(kind)


@pytest.fixture
def solver():
    """Returns a KSP as command lines make it, with options; they are gone afterwards."""
    database, names = PETSc.Options(), []

    def make(A, P=None, **options):
        options = {"ksp_type": "python", "ksp_python_type": "krylith.petsc.KSP", **options}
        prefix = f"k{len(names)}_"
        for name, value in options.items():
            names.append(prefix + name)
            database[names[-1]] = value
        ksp = PETSc.KSP().create(PETSc.COMM_SELF)
        ksp.setOptionsPrefix(prefix)
        ksp.setOperators(A, P)
        ksp.setFromOptions()
        return ksp

    yield make
    for name in names:
        database.delValue(name)


def solve(ksp, b, x=None, transposed=False):
    A = ksp.getOperators()[0]
    right, left = A.createVecs()
    left.array = b
    if x is not None:
        right.array = x
    (ksp.solveTranspose if transposed else ksp.solve)(left, right)
    return right.array.copy()


def error(A, x, b):
    return np.linalg.norm(b - A @ x) / np.linalg.norm(b)


@pytest.mark.parametrize("devices", ["1", "3"])
@pytest.mark.parametrize("options", [
    {}, {"krylith_method": "cg"}, {"krylith_method": "cg", "krylith_M": "amg:theta=0.1"},
    {"krylith_M": "jacobi"},
    {"krylith_method": "gmres", "krylith_restart": "10", "krylith_M": "ilu0", "ksp_pc_side": "left"},
])
def test_solves(devices, options, solver, spd, rng):
    b = rng.standard_normal(spd.shape[0])
    ksp = solver(mat(spd), ksp_rtol="1e-9", krylith_devices=devices, krylith_backend="host", **options)
    x = solve(ksp, b)
    info = ksp.getPythonContext().info
    assert ksp.getPCSide() == (PETSc.PC.Side.LEFT if "ksp_pc_side" in options else PETSc.PC.Side.RIGHT)
    assert ksp.reason == reasons.CONVERGED_RTOL and ksp.its == info.iterations > 0
    assert error(spd, x, b) <= 1e-9 and ksp.norm == pytest.approx(np.linalg.norm(b - spd @ x), rel=0.05)
    assert info.solver == options.get("krylith_method", "cg")
    assert info.preconditioner.startswith(options.get("krylith_M", "none" if options else ("none", "jacobi")))
    assert len(ksp.getPythonContext().operator.devices) == int(devices) and info.copies == 0


@pytest.mark.parametrize("kind", ["baij", "sbaij", "dense", "sell", "mpiaij"])
def test_other_types_are_converted(kind, solver, spd, rng):
    b = rng.standard_normal(spd.shape[0])
    A = mat(spd, kind)
    before = A.getType()
    ksp = solver(A, ksp_rtol="1e-9", krylith_M="ic0", krylith_method="cg")
    assert error(spd, solve(ksp, b), b) <= 1e-9 and ksp.reason > 0 and A.getType() == before
    A.scale(2)
    assert error(2 * spd, solve(ksp, b), b) <= 1e-9


def test_nested(solver, spd, rng):
    b = rng.standard_normal(2 * spd.shape[0])
    nest = PETSc.Mat().createNest([[mat(spd), None], [None, mat(2 * spd)]], comm=PETSc.COMM_SELF)
    assert error(sp.block_diag([spd, 2 * spd]), solve(solver(nest, ksp_rtol="1e-9"), b), b) <= 1e-9


def test_transposed(solver, general, rng):
    b = rng.standard_normal(general.shape[0])
    A = mat(general)
    for options in ({}, {"krylith_M": "ilu0", "krylith_method": "gmres"}, {"pc_type": "ilu"}):
        ksp = solver(A, ksp_rtol="1e-9", **options)
        assert error(general.T, solve(ksp, b, transposed=True), b) <= 1e-9
        assert error(general, solve(ksp, b), b) <= 1e-9
    A.scale(2)
    assert error(2 * general.T, solve(ksp, b, transposed=True), b) <= 1e-9


def test_least_squares(solver, rng):
    A = sp.random_array((90, 40), density=0.2, rng=rng, format="csr")
    b = rng.standard_normal(90)
    ksp = solver(mat(A), ksp_rtol="1e-10", krylith_method="lsqr")
    assert np.allclose(solve(ksp, b), sp.linalg.lsqr(A, b, atol=1e-12, btol=1e-12)[0], atol=1e-6)
    assert ksp.reason == reasons.CONVERGED_RTOL_NORMAL_EQUATIONS


def test_new_values_are_an_update(solver, spd, rng):
    b = rng.standard_normal(spd.shape[0])
    A = mat(spd)
    ksp = solver(A, ksp_rtol="1e-9", krylith_method="cg", krylith_M="jacobi")
    solve(ksp, b)
    operator = ksp.getPythonContext().operator
    A.scale(3)
    assert error(3 * spd, solve(ksp, b), b) <= 1e-9
    ksp.setOperators(mat(5 * spd))
    assert error(5 * spd, solve(ksp, b), b) <= 1e-9
    assert ksp.getPythonContext().operator is operator
    other = sp.csr_array(spd @ spd)
    ksp.setOperators(mat(other))
    assert error(other, solve(ksp, b), b) <= 1e-9
    assert ksp.getPythonContext().operator is not operator
    ksp.reset()
    assert ksp.getPythonContext().operator is None


def test_another_size(solver):
    ksp = solver(mat(laplacian(6)))
    solve(ksp, np.ones(36))
    ksp.reset()
    ksp.setOperators(mat(laplacian(7)))
    assert error(laplacian(7), solve(ksp, np.ones(49)), np.ones(49)) <= 1e-5


def test_initial_guess(solver, spd, rng):
    b = rng.standard_normal(spd.shape[0])
    exact = sp.linalg.spsolve(sp.csc_array(spd), b)
    ksp = solver(mat(spd), krylith_method="cg", ksp_initial_guess_nonzero="true")
    ksp.setConvergenceHistory()
    x = solve(ksp, b, exact)
    assert ksp.its == 0 and ksp.reason > 0 and np.allclose(x, exact)
    ksp.setInitialGuessNonzero(False)
    solve(ksp, b, exact)
    assert ksp.its > 0


def test_monitors_and_history(solver, spd, rng):
    b = rng.standard_normal(spd.shape[0])
    seen = []
    for start in (None, np.ones(b.size)):
        ksp = solver(mat(spd), krylith_method="cg", krylith_M="jacobi", ksp_rtol="1e-8")
        ksp.setInitialGuessNonzero(start is not None)
        ksp.setConvergenceHistory()
        ksp.setMonitor(lambda ksp, its, norm: seen.append((its, norm, ksp.its)))
        solve(ksp, b, start)
        history = ksp.getConvergenceHistory()
        assert [s[0] for s in seen] == [s[2] for s in seen] == list(range(ksp.its + 1))
        assert np.allclose(history, [s[1] for s in seen])
        r = b if start is None else b - spd @ start
        assert history[0] == pytest.approx(np.linalg.norm(r)) and history[-1] <= 1e-8 * np.linalg.norm(b)
        seen.clear()


def test_tolerances(solver, spd):
    b = np.ones(spd.shape[0])
    ksp = solver(mat(spd), krylith_method="cg", ksp_max_it="3", ksp_rtol="1e-12")
    solve(ksp, b)
    assert ksp.reason == reasons.DIVERGED_MAX_IT and ksp.its == 3
    ksp = solver(mat(spd), krylith_method="cg", ksp_atol="1e-3", ksp_rtol="0")
    assert np.linalg.norm(b - spd @ solve(ksp, b)) <= 1e-3 and ksp.reason == reasons.CONVERGED_ATOL
    ksp = solver(mat(sp.diags_array(np.where(np.arange(50) % 2, 1.0, -2.0))), krylith_method="cg")
    solve(ksp, np.ones(50))
    assert ksp.reason == reasons.DIVERGED_INDEFINITE_MAT
    assert "indefinite" in ksp.getPythonContext().info.reason
    ksp.setErrorIfNotConverged(True)
    with pytest.raises(PETSc.Error):
        solve(ksp, np.ones(50))


@pytest.mark.parametrize("pc", ["ilu", "icc", "jacobi", "sor"])
def test_petscs_pc_is_m(pc, solver, spd, rng):
    b = rng.standard_normal(spd.shape[0])
    plain = solver(mat(spd), ksp_rtol="1e-9", krylith_method="cg")
    ksp = solver(mat(spd), ksp_rtol="1e-9", krylith_method="cg", pc_type=pc)
    solve(plain, b)
    assert error(spd, solve(ksp, b), b) <= 1e-9 and ksp.its < plain.its
    assert ksp.getPythonContext().info.preconditioner == "a Python function"
    named = solver(mat(spd), pc_type=pc, krylith_M="fsai")
    solve(named, b)
    assert named.getPythonContext().info.preconditioner.startswith("fsai")
    chosen = solver(mat(spd), ksp_rtol="1e-9", pc_type=pc)  # with the method chosen
    assert error(spd, solve(chosen, b), b) <= 1e-9


def test_without_entries(solver, spd, rng):
    class Product:
        def mult(self, mat, x, y):
            y.array = spd @ x.array_r

    b = rng.standard_normal(spd.shape[0])
    shell = PETSc.Mat().createPython(spd.shape, Product(), comm=PETSc.COMM_SELF)
    shell.setUp()
    ksp = solver(shell, ksp_rtol="1e-9", krylith_method="cg")
    assert error(spd, solve(ksp, b), b) <= 1e-9
    for options in ({}, {"krylith_M": "jacobi"}, {"pc_type": "icc"}):  # made of the second matrix
        ksp2 = solver(shell, mat(spd), ksp_rtol="1e-9", krylith_method="cg", **options)
        assert error(spd, solve(ksp2, b), b) <= 1e-9 and ksp2.its < ksp.its
        assert ksp2.getPythonContext().info.preconditioner.startswith(
            "a Python" if "pc_type" in options else options.get("krylith_M", "amg"))


def test_second_matrix_follows(solver, spd, rng):
    b = rng.standard_normal(spd.shape[0])
    A, P = mat(spd), mat(spd)
    ksp = solver(A, P, ksp_rtol="1e-9", krylith_method="cg", krylith_M="ic0")
    solve(ksp, b)
    before = ksp.its
    A.scale(7)
    P.scale(7)
    assert error(7 * spd, solve(ksp, b), b) <= 1e-9 and ksp.its == before
    assert error(7 * spd, solve(ksp, b, transposed=True), b) <= 1e-9
    other = sp.csr_array(spd @ spd)
    for second in (spd, other):
        ksp.setOperators(mat(other), mat(second))
        assert error(other, solve(ksp, b), b) <= 1e-9
        assert error(other, solve(ksp, b, transposed=True), b) <= 1e-9


def test_null_space(solver, rng):
    n = 20
    off = np.full(n - 1, -1.0)
    line = sp.diags_array([off, np.r_[1, np.full(n - 2, 2.0), 1], off], offsets=[-1, 0, 1])
    A = sp.csr_array(sp.kron(line, sp.eye_array(n)) + sp.kron(sp.eye_array(n), line))
    m = mat(A)
    m.setOption(PETSc.Mat.Option.SYMMETRIC, True)
    m.setNullSpace(PETSc.NullSpace().create(constant=True, comm=PETSc.COMM_SELF))
    b = rng.standard_normal(A.shape[0])  # PETSc takes its mean away
    for options in ({}, {"krylith_method": "cg", "krylith_M": "amg"}, {"krylith_method": "minres"}):
        ksp = solver(m, ksp_rtol="1e-9", **options)
        x = solve(ksp, b)
        assert ksp.reason > 0 and abs(x.mean()) < 1e-10
        assert error(A, x, b - b.mean()) <= 1e-8


def test_near_null_space(solver):
    A = krylith.load("gallery:elasticity3d:6")  # nodes at x = 0 are clamped
    z, y, x = np.meshgrid(np.arange(7.0), np.arange(7.0), np.arange(1.0, 7.0), indexing="ij")
    coordinates = np.stack([x, y, z], axis=-1)
    assert A.shape[0] == coordinates.size
    b = np.ones(A.shape[0])
    plain, m = mat(A, block_size=3), mat(A, block_size=3)
    nodes = PETSc.Vec().createWithArray(coordinates.reshape(-1), bsize=3, comm=PETSc.COMM_SELF)
    m.setNearNullSpace(PETSc.NullSpace().createRigidBody(nodes))
    without = solver(plain, ksp_rtol="1e-8", krylith_method="cg", krylith_M="amg")
    solve(without, b)
    for options in ({"krylith_M": "amg"}, {}):
        ksp = solver(m, ksp_rtol="1e-8", krylith_method="cg", **options)
        assert error(A, solve(ksp, b), b) <= 1e-8 and ksp.its < without.its
        assert ksp.getPythonContext().info.preconditioner.startswith("amg")
        before = ksp.its
        m.scale(2)
        assert error(2 * A, solve(ksp, b), b) <= 1e-8 and ksp.its == before
        assert error(2 * A, solve(ksp, b, transposed=True), b) <= 1e-8 and ksp.its == before
        m.scale(0.5)
    late = solver(mat(A), plain, ksp_rtol="1e-8", krylith_method="cg", krylith_M="amg")
    solve(late, b)
    before = late.its
    plain.setNearNullSpace(m.getNearNullSpace())
    assert error(A, solve(late, b), b) <= 1e-8 and late.its < before


def test_context_with_arguments(spd):
    ksp = PETSc.KSP().createPython(krylith.petsc.KSP(method="cg", M="jacobi", devices=2), comm=PETSc.COMM_SELF)
    ksp.setOperators(mat(spd))
    assert error(spd, solve(ksp, np.ones(spd.shape[0])), np.ones(spd.shape[0])) <= 1e-5
    assert ksp.getPC().getType() == "none" and ksp.getPythonContext().info.preconditioner == "jacobi"
    with pytest.raises(ValueError, match="krylith_methd"):
        krylith.petsc.KSP(methd="cg")


def test_view(solver, spd, tmp_path):
    ksp = solver(mat(spd), krylith_method="cg", krylith_M="jacobi", krylith_max_seconds="10")
    for solved in (False, True):
        if solved:
            solve(ksp, np.ones(spd.shape[0]))
        file = tmp_path / f"{solved}.txt"
        viewer = PETSc.Viewer().createASCII(str(file), comm=PETSc.COMM_SELF)
        ksp.view(viewer)
        viewer.destroy()
        text = file.read_text()
        assert "krylith.petsc.KSP" in text and "krylith_M: jacobi" in text and "10.0" in text
        assert ("last solve: cg, preconditioner jacobi" in text) == solved == ("operator: " in text)


@pytest.mark.parametrize("options, message", [
    ({"krylith_methd": "cg"}, "unknown option krylith_methd"),
    ({"krylith_devices": "two"}, "krylith_devices is 'two'"),
    ({"krylith_restart": "x"}, "krylith_restart is 'x'"),
    ({"krylith_M": "jacoby"}, "jacobi"),
    ({"krylith_method": "gc"}, "cg"),
    ({"ksp_norm_type": "preconditioned"}, "norm_type"),
    ({"ksp_knoll": "true"}, "Knoll"),
    ({"ksp_convergence_test": "skip"}, "convergence test"),
])
def test_refusals(options, message, solver, spd):
    with pytest.raises(PETSc.Error) as caught:
        solve(solver(mat(spd), **options), np.ones(spd.shape[0]))
    assert message in str(caught.value.__cause__)


def test_convergence_tests_are_refused(solver, spd):
    ksp = solver(mat(spd))
    ksp.setConvergenceTest(lambda ksp, its, norm: 0)
    with pytest.raises(PETSc.Error) as caught:
        solve(ksp, np.ones(spd.shape[0]))
    assert "convergence test" in str(caught.value.__cause__)


def test_page():
    text = (pathlib.Path(__file__).parents[2] / "docs/python_coming_from.md").read_text()
    blocks = re.findall(r"^```python petsc4py\n(.*?)^```", text, flags=re.M | re.S)
    assert blocks
    exec(compile("\n".join(blocks), "python_coming_from.md", "exec"), {})
