"""Solves that torch differentiates, against its dense ones."""

from __future__ import annotations

import threading

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla

import krylith

from conftest import laplacian, unsymmetric

torch = pytest.importorskip("torch")
from krylith.torch import Pattern, solve  # noqa: E402

grad, gradcheck, gradgradcheck = torch.autograd.grad, torch.autograd.gradcheck, torch.autograd.gradgradcheck

EXACT = dict(method="gmres", M=None, rtol=1e-13)


def leaf(array):
    return torch.as_tensor(array).clone().requires_grad_()


def dense(values, pattern, b):
    """The same by a dense solve, which torch differentiates itself."""
    places = torch.from_numpy(np.stack([pattern.row, pattern.col]).astype(np.int64))
    A = torch.zeros(pattern.shape, dtype=values.dtype).index_put(tuple(places), values, accumulate=True)
    return torch.linalg.solve(A, b)


def agree(values, pattern, b, tolerance=1e-8, **options):
    """Whether x and its gradients are those of the dense solve."""
    x, expected = solve(values, pattern, b, **{**EXACT, **options}), dense(values, pattern, b)
    weight = torch.linspace(1, 2, x.numel(), dtype=x.dtype).reshape(x.shape)
    found, known = (grad((y * weight).sum(), (values, b)) for y in (x, expected))
    return all(torch.allclose(f, k, rtol=tolerance, atol=tolerance) for f, k in zip((x, *found), (expected, *known)))


def made(form, A):
    if form == "arrays":
        return Pattern(A.indptr, A.indices, A.shape)
    if form == "tensors":
        return Pattern(torch.from_numpy(A.indptr), torch.from_numpy(A.indices), A.shape, devices=2, backend="host")
    if form.startswith("torch"):
        csr = torch.sparse_csr_tensor(*map(torch.from_numpy, (A.indptr, A.indices, A.data)), A.shape)
        return Pattern(csr if form == "torch csr" else csr.to_sparse_coo().coalesce())
    return Pattern(A.asformat(form), devices=3, backend="host")


FORMS = ["arrays", "tensors", "torch csr", "torch coo", "csr", "csc", "coo"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("columns", [(), (3,)])
def test_gradcheck(form, columns, rng):
    A = unsymmetric(3)
    pattern = made(form, A)
    values, b = leaf(A.asformat("csc").data if form == "csc" else A.data), leaf(rng.standard_normal((9, *columns)))
    assert agree(values, pattern, b)

    def f(values, b):
        return solve(values, pattern, b, **EXACT)

    assert gradcheck(f, (values, b)) and gradgradcheck(f, (values, b), fast_mode=form != "arrays")


@pytest.mark.parametrize("M", ["auto", None, "ilu0", "amg"])
def test_methods(M, general, rng):
    pattern = Pattern(general)
    values, b = leaf(general.data), leaf(rng.standard_normal(general.shape[0]))
    assert agree(values, pattern, b, method="auto", M=M, rtol=1e-10)
    assert pattern.info == pattern.adjoint_info == 0
    assert pattern.info.preconditioner == pattern.adjoint_info.preconditioner


def test_duplicates_add_up(rng):
    row, col = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 0, 1, 2, 2, 0])
    coordinates = sp.coo_array((np.ones(6), (row, col)), shape=(3, 3))
    for pattern in (Pattern(coordinates), Pattern([0, 2, 4, 6], col, (3, 3))):
        assert agree(leaf(np.array([2.0, 3.0, 4.0, 1.0, 5.0, 1.0])), pattern, leaf(rng.standard_normal(3)))


def test_single_precision(general, rng):
    pattern = Pattern(general)
    values, b = (leaf(a.astype(np.float32)) for a in (general.data, rng.standard_normal(general.shape[0])))
    x = solve(values, pattern, b)
    x.sum().backward()
    assert x.dtype == values.grad.dtype == b.grad.dtype == torch.float32 and pattern.info.rtol == 1e-5
    assert agree(values, pattern, b, 1e-2, rtol=1e-6)
    assert agree(leaf(general.data), pattern, leaf(rng.standard_normal(general.shape[0])))  # beside it


def test_only_what_is_needed_is_solved(general):
    pattern = Pattern(general)
    values, b = torch.from_numpy(general.data), torch.ones(general.shape[0], dtype=torch.float64)
    x = solve(values, pattern, b)
    assert not x.requires_grad and pattern.adjoint_info is None and pattern.operator(values)._flipped is None
    with torch.inference_mode():
        assert torch.equal(solve(values, pattern, b), x)
    for wanted in ((True, False), (False, True)):
        v, r = values.clone().requires_grad_(wanted[0]), b.clone().requires_grad_(wanted[1])
        pattern.adjoint_info = None
        y = solve(v, pattern, r)
        assert pattern.adjoint_info is None
        y.sum().backward()
        assert pattern.adjoint_info == 0 and (v.grad is None, r.grad is None) == (not wanted[0], not wanted[1])
    with torch.no_grad():
        assert not solve(leaf(general.data), pattern, b).requires_grad


def test_a_second_call_sets_nothing_up(monkeypatch, rng):
    A = unsymmetric(40)
    made, build = [], krylith.Operator._build
    monkeypatch.setattr(krylith.Operator, "_build", lambda *a, **k: (made.append(1), build(*a, **k))[1])
    pattern = Pattern(A)
    values, b = leaf(A.data), leaf(rng.standard_normal(A.shape[0]))
    solve(values, pattern, b, M="ilu0", method="gmres").sum().backward()
    operator = pattern.operator(values)
    flipped, before = operator._flipped, operator.memory()
    assert len(made) == 1 and flipped is not None
    for scale in (1.0, 1.0, 3.0):
        again = leaf(scale * A.data)
        solve(again, pattern, b, M="ilu0", method="gmres").sum().backward()
        assert len(made) == 1 and pattern.operator(again) is operator and operator._flipped is flipped
        assert pattern.info.setup_seconds < 1e-3 and pattern.adjoint_info.setup_seconds < 1e-3
        assert operator.memory() == before


def symmetric_values(A):
    """Values of A that stay symmetric where their parameters change: (A + A') / 2 on A's pattern."""
    places = {place: k for k, place in enumerate(zip(*A.tocoo().coords))}
    partner = torch.tensor([places[j, i] for i, j in places])
    return lambda theta: (theta + theta[partner]) / 2


@pytest.mark.parametrize("columns", [(), (2,)])
def test_symmetric(columns, rng):
    A = laplacian(3)
    pattern, values_of = Pattern(A, symmetric=True), symmetric_values(A)
    theta, b = leaf(A.data), leaf(rng.standard_normal((9, *columns)))

    def f(theta, b):
        return solve(values_of(theta), pattern, b, method="cg", M=None, rtol=1e-13)

    assert gradcheck(f, (theta, b)) and gradgradcheck(f, (theta, b), fast_mode=True)
    assert pattern.operator(theta)._flipped is None
    found = grad(f(theta, b).sum(), theta)[0]
    assert torch.allclose(found, grad(dense(values_of(theta), pattern, b).sum(), theta)[0])


def test_symmetric_that_is_not_is_found(general):
    for dtype in (np.float64, np.float32):
        pattern = Pattern(general, symmetric=True)
        x = solve(leaf(general.data.astype(dtype)), pattern, torch.from_numpy(np.ones(general.shape[0], dtype)))
        with pytest.raises(ValueError, match="symmetric"):
            x.sum().backward()


def test_each_backward_has_the_values_of_its_forward(general, rng):
    pattern = Pattern(general)
    b = leaf(rng.standard_normal(general.shape[0]))
    first, second = leaf(general.data), leaf(general.data * np.linspace(1, 1.2, general.nnz))
    x, y = solve(first, pattern, b, **EXACT), solve(second, pattern, b, **EXACT)
    for values, z in ((first, x), (second, y), (first, x)):
        found = grad(z.sum(), (values, b), retain_graph=True)
        known = grad(dense(values, pattern, b).sum(), (values, b))
        assert all(torch.allclose(f, k) for f, k in zip(found, known))


def test_values_that_change_in_place(general, rng):
    pattern = Pattern(general)
    values, b = leaf(general.data), leaf(rng.standard_normal(general.shape[0]))
    x = solve(values, pattern, b, **EXACT)
    with torch.no_grad():
        values.mul_(1.1)
    with pytest.raises(RuntimeError, match="inplace"):
        x.sum().backward()
    assert agree(values, pattern, b)
    values.data *= 1.1  # of which torch itself doesn't know
    assert agree(values, pattern, b)


def test_an_optimiser_finds_the_values(rng):
    A = laplacian(6)
    pattern = Pattern(A)
    b = torch.from_numpy(rng.standard_normal((36, 4)))
    target = dense(torch.from_numpy(A.data), pattern, b)
    scale = leaf([0.7])
    optimiser = torch.optim.LBFGS([scale], line_search_fn="strong_wolfe")

    def loss():
        optimiser.zero_grad()
        value = ((solve(scale * torch.from_numpy(A.data), pattern, b, method="cg", M="jacobi") - target) ** 2).sum()
        value.backward()
        return value

    optimiser.step(loss)
    assert abs(scale.item() - 1) < 1e-4


def test_failures_do_not_pass(general, rng):
    pattern = Pattern(general)
    values, b = leaf(general.data), leaf(rng.standard_normal(general.shape[0]))
    short = dict(method="gmres", M=None, maxiter=2)
    with pytest.raises(krylith.NotConverged) as caught:
        solve(values, pattern, b, **short)
    assert caught.value.info == pattern.info == 2
    x = solve(values, pattern, b, adjoint=short)
    with pytest.raises(krylith.NotConverged, match="the adjoint solve"):
        x.sum().backward()
    with pytest.warns(RuntimeWarning) as seen:
        solve(values, pattern, b, raise_on_failure=False, **short).sum().backward()
    assert len(seen) == 2 and "adjoint" in str(seen[1].message) and pattern.adjoint_info == 2
    b.data[3] = np.nan
    with pytest.raises(krylith.NotConverged):
        solve(values, pattern, b)


def test_preconditioners(general, spd, rng):
    b = leaf(rng.standard_normal(general.shape[0]))
    values, pattern = leaf(general.data), Pattern(general)
    factors = sla.splu(sp.csc_array(general))
    M = sla.LinearOperator(general.shape, factors.solve, lambda r: factors.solve(r, "T"))
    assert agree(values, pattern, b, method="fgmres", M=M) and pattern.adjoint_info.iterations <= 2
    operator = pattern.operator(values)
    of_a, of_its_transpose = operator.preconditioner("ilu0"), operator.T.preconditioner("ilu0")
    assert agree(values, pattern, b, M=of_a, adjoint={"M": of_its_transpose})
    with pytest.raises(ValueError, match="op.T.preconditioner"):
        solve(values, pattern, b, M=of_a).sum().backward()
    symmetric = Pattern(spd, symmetric=True)
    values = leaf(spd.data)
    near = symmetric.operator(values).preconditioner("amg", B=np.ones((spd.shape[0], 1)))
    assert agree(values, symmetric, b, method="cg", M=near)
    assert symmetric.info.preconditioner.startswith("amg") and symmetric.adjoint_info.preconditioner.startswith("amg")


def test_options_go_to_both_solves(general, rng, capsys):
    pattern = Pattern(general)
    values, b = leaf(general.data), leaf(rng.standard_normal(general.shape[0]))
    x = solve(values, pattern, b, **EXACT)
    y = solve(values, pattern, b, x, rtol=1e-8, method="gmres", M=None, history=True, verbose=True)
    assert pattern.info.iterations == 0  # from x as the first guess, which the adjoint doesn't take
    y.sum().backward()
    assert pattern.adjoint_info.iterations > 5 and pattern.adjoint_info.history.size > 5
    assert len(capsys.readouterr().out.splitlines()) > 10


def test_functional(general, rng):
    pattern = Pattern(general)
    values, b = leaf(general.data), leaf(rng.standard_normal(general.shape[0]))
    found = torch.func.grad(lambda values: solve(values, pattern, b.detach(), **EXACT).sum())(values.detach())
    assert torch.allclose(found, grad(dense(values, pattern, b).sum(), values)[0])


def test_threads(general, rng):
    pattern = Pattern(general, threads=1, backend="host")
    fine = [False] * 4

    def work(i):
        values, b = leaf(general.data * (1 + 0.1 * i)), leaf(np.linspace(0, i + 1, general.shape[0]))
        fine[i] = all(agree(values, pattern, b) for _ in range(5))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert all(fine)


def test_layouts_of_tensors(general, rng):
    pattern = Pattern(general)
    values = leaf(np.stack([general.data, general.data], 1))
    b = leaf(rng.standard_normal((2, general.shape[0])))
    assert agree(values[:, 0], pattern, b[1]) and agree(values[:, 1], pattern, b.T)
    x = solve(values[:, 0], pattern, b.T)
    assert torch.allclose(grad(x.sum(), values)[0][:, 1], torch.zeros(general.nnz, dtype=torch.float64))
