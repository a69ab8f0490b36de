"""Solves that JAX differentiates, against its dense ones."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import krylith

from conftest import laplacian, unsymmetric

jax = pytest.importorskip("jax")
from jax.test_util import check_grads  # noqa: E402

from krylith.jax import Pattern, solve  # noqa: E402

jnp = jax.numpy
EXACT = dict(method="gmres", M=None, rtol=1e-13)
ALLOWED = (TypeError, ValueError, RuntimeError)


@pytest.fixture(autouse=True)
def wide():
    with jax.enable_x64(True):
        yield


def dense(values, pattern, b):
    return jnp.linalg.solve(jnp.zeros(pattern.shape, values.dtype).at[pattern.row, pattern.col].add(values), b)


def agree(values, pattern, b, tolerance=1e-8, **options):
    """Whether x and its gradients are those of the dense solve."""
    weight = np.linspace(1, 2, b.size, dtype=b.dtype).reshape(b.shape)
    options = {**EXACT, **options}
    ours = jax.value_and_grad(lambda values, b: (solve(values, pattern, b, **options) * weight).sum(), (0, 1))
    theirs = jax.value_and_grad(lambda values, b: (dense(values, pattern, b) * weight).sum(), (0, 1))
    known = jax.tree.leaves(theirs(values, b))
    return all(np.allclose(f, k, tolerance, tolerance) for found in (ours, jax.jit(ours))
               for f, k in zip(jax.tree.leaves(found(values, b)), known))


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "arrays"])
def test_forms(form, rng):
    if form == "arrays":
        A = unsymmetric(3)
        pattern = Pattern(jnp.asarray(A.indptr), A.indices, A.shape)
    else:
        A = unsymmetric(3).asformat(form)
        pattern = Pattern(A, devices=3, backend="host")
    for columns in ((), (3,)):
        assert agree(jnp.asarray(A.data), pattern, jnp.asarray(rng.standard_normal((9, *columns))))


@pytest.mark.parametrize("columns", [(), (3,)])
def test_check_grads(columns, rng):
    pattern, f = Pattern(unsymmetric(3)), jax.jit(lambda values, b: solve(values, pattern, b, **EXACT))
    given = jnp.asarray(unsymmetric(3).data), jnp.asarray(rng.standard_normal((9, *columns)))
    check_grads(f, given, order=2, modes=["fwd", "rev"])


def test_vmap_and_jacobian(rng):
    A = unsymmetric(3)
    pattern = Pattern(A)
    values, b = jnp.asarray(np.stack([A.data, 2 * A.data])), jnp.asarray(rng.standard_normal((2, 9)))
    f = lambda v, b: solve(v, pattern, b, **EXACT)
    assert np.allclose(jax.vmap(f)(values, b), jax.vmap(lambda v, b: dense(v, pattern, b))(values, b))
    assert np.allclose(jax.vmap(f, (None, 0))(values[0], b), f(values[0], b.T).T)
    for jacobian in (jax.jacrev, jax.jacfwd):
        assert np.allclose(jacobian(f, 1)(values[0], b[0]), np.linalg.inv(A.toarray()))


def test_single_precision(general, rng):
    with jax.enable_x64(False):
        values, b = jnp.asarray(general.data), jnp.asarray(rng.standard_normal(general.shape[0]))
        assert values.dtype == np.float32 and agree(values, Pattern(general), b, 1e-2, rtol=1e-6)


def test_set_up_once(monkeypatch, general):
    made, build = [], krylith.Operator._build
    monkeypatch.setattr(krylith.Operator, "_build", lambda *a, **k: (made.append(1), build(*a, **k))[1])
    pattern, b = Pattern(general), jnp.ones(general.shape[0])
    f = jax.jit(jax.grad(lambda values: solve(values, pattern, b, method="gmres", M="ilu0").sum()))
    jax.block_until_ready(f(general.data))
    operator = pattern.operator(general.data)
    flipped, before = operator._flipped, operator.memory()
    for scale in (1, 3, 3):
        jax.block_until_ready(f(scale * general.data))
        assert pattern.operator(scale * general.data) is operator and operator._flipped is flipped and len(made) == 1
        assert pattern.info.setup_seconds < 1e-3 and pattern.adjoint_info.setup_seconds < 1e-3
        assert operator.memory() == before


def test_only_what_is_needed_is_solved(general):
    pattern, b = Pattern(general), jnp.ones(general.shape[0])
    jax.block_until_ready(jax.jvp(lambda values: solve(values, pattern, b), (general.data,), (general.data,)))
    assert pattern.info == 0 and pattern.adjoint_info is None and pattern.operator(general.data)._flipped is None


def test_symmetric(spd, general, rng):
    b = jnp.asarray(rng.standard_normal(spd.shape[0]))
    pattern = Pattern(spd, symmetric=True)
    assert agree(jnp.asarray(spd.data), pattern, b, method="cg") and pattern.operator(spd.data)._flipped is None
    with pytest.raises(RuntimeError, match="symmetric=True"):
        jax.block_until_ready(jax.grad(lambda b: solve(general.data, Pattern(general, symmetric=True), b).sum())(b))


def test_failures_do_not_pass(general, rng):
    pattern, b = Pattern(general), jnp.asarray(rng.standard_normal(general.shape[0]))
    short = dict(method="gmres", M=None, maxiter=2)
    for wrap in (lambda f: f, jax.jit):
        with pytest.raises(jax.errors.JaxRuntimeError, match="NotConverged"):
            jax.block_until_ready(wrap(lambda b: solve(general.data, pattern, b, **short))(b))
        with pytest.raises(jax.errors.JaxRuntimeError, match="NotConverged: the adjoint solve"):
            jax.block_until_ready(wrap(jax.grad(lambda b: solve(general.data, pattern, b, adjoint=short).sum()))(b))
    with pytest.warns(RuntimeWarning, match="adjoint"):
        short["raise_on_failure"] = False
        jax.block_until_ready(jax.grad(lambda b: solve(general.data, pattern, b, adjoint=short).sum())(b))


def test_duplicates_add_up():
    pattern = Pattern(sp.coo_array((np.ones(6), ([0, 0, 1, 1, 2, 2], [0, 0, 1, 2, 2, 0])), shape=(3, 3)))
    assert agree(jnp.array([2.0, 3.0, 4.0, 1.0, 5.0, 1.0]), pattern, jnp.arange(3.0))


def test_hostile():
    A = laplacian(3)
    pattern, v, b = Pattern(A), jnp.asarray(A.data), jnp.ones(9)
    for values, right in (
        (v[1:], b), (v[None], b), (v, b[1:]), (v, b[None]), (v, b[:, None, None]), (v, b[0]), (v, b.astype("f4")),
        (v.astype("f4"), b), (v * 1j, b * 1j), (v.astype("f2"), b.astype("f2")), ("text", b), (None, b),
        (v * np.nan, b), (v, b * np.nan), (v.astype(int), b.astype(int)),
    ):
        with pytest.raises(ALLOWED):
            jax.block_until_ready(solve(values, pattern, right))
    for options in (dict(M="jacoby"), dict(method=3), dict(nonsense=1), dict(out=np.ones(9)), dict(adjoint=3),
                    dict(adjoint={"M": "x"})):
        with pytest.raises(ALLOWED):
            jax.block_until_ready(jax.grad(lambda b: solve(v, pattern, b, **options).sum())(b))
    with pytest.raises(TypeError, match="Pattern"):
        solve(v, A, b)
    assert agree(v, pattern, b)
